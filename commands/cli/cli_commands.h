// SPDX-License-Identifier: Apache-2.0
// The commands, one row each: a name, a line of help, and what defines its flags and action.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>

#include "commands/cli/cli.h"
#include "daemon/config/config.h"

namespace CLI {
class App;
}

namespace trainwatch {

// What an action works with; outlives it.
struct CliSession {
  const Commands& commands;
  std::ostream& out;
  std::ostream& err;
};

struct CliCommand {
  const char* name;
  const char* help;
  // Adds flags to `app`; the result runs the command after parsing and gives its exit code.
  std::function<int()> (*define)(CLI::App& app, const CliSession& session);
};

std::span<const CliCommand> cli_commands();

// `trainwatch rules`: the catalog as text, JSON, the table of docs/rules/README.md (Markdown) and
// the rules of config/trainwatch.yaml. `tests/e2e/readme_test.py BINARY --update` writes the latter
// two.
std::string rules_as_text(RuleCatalog catalog);
std::string rules_as_json(RuleCatalog catalog);
std::string rules_as_markdown(RuleCatalog catalog);
std::string rules_as_yaml(RuleCatalog catalog);

}  // namespace trainwatch

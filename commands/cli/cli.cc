// SPDX-License-Identifier: Apache-2.0
#include "commands/cli/cli.h"

#include <CLI/CLI.hpp>
#include <map>
#include <ostream>
#include <vector>

#include "commands/cli/cli_commands.h"
#include "daemon/config/config_text.h"
#include "daemon/exit_code.h"
#include "daemon/version.h"

namespace trainwatch {
namespace {

constexpr const char* kAbout =
    "Watches the trace and metric files of a training job and reports, while it runs, when\n"
    "training time is being lost, since when, how much, and why.";

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 failed at run time, or nothing could be read; 2 wrong usage;\n"
    "3 alerts at or above --fail-on; 73 another process uses the state; 78 bad configuration.\n"
    "Every flag has an environment variable: --log.level is TRAINWATCH_LOG_LEVEL.\n"
    "'trainwatch COMMAND --help' explains a command; 'trainwatch docs' lists the documentation.";

// `trainwatch help` and `trainwatch help COMMAND`, as git and kubectl have them.
constexpr std::string_view kHelp = "help";

bool asks_for_help(int argc, const char* const* argv) {
  return argc > 1 && argv[1] == kHelp;
}

// The message for an unknown command, better than the parser's; empty if it is known.
std::string unknown_command(int argc, const char* const* argv) {
  const int place = asks_for_help(argc, argv) ? 2 : 1;
  if (argc <= place || argv[place][0] == '-') return {};
  const std::string_view name = argv[place];
  std::vector<std::string_view> known;
  for (const CliCommand& command : cli_commands()) {
    if (command.name == name) return {};
    known.emplace_back(command.name);
  }
  return "no command '" + std::string(name) + "'" + did_you_mean(name, known);
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const Commands& commands, std::ostream& out,
                     std::ostream& err) {
  if (const std::string unknown = unknown_command(argc, argv); !unknown.empty()) {
    err << unknown << "\nRun with --help for more information.\n";
    return exit_code::usage;
  }
  const CliSession session{commands, out, err};
  CLI::App app(kAbout, "trainwatch");
  app.footer(kFooter);
  app.set_version_flag("-v,--version", [] { return version_text(); });
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const CliCommand& command : cli_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    actions[sub] = command.define(*sub, session);
  }
  try {
    if (asks_for_help(argc, argv)) {
      app.parse(argc > 2 ? std::string(argv[2]) + " --help" : "--help");
    } else {
      app.parse(argc, argv);
    }
  } catch (const CLI::ParseError& error) {
    const bool asked_for_text = error.get_exit_code() == 0;  // --help, --version
    app.exit(error, out, err);
    return asked_for_text ? exit_code::done : exit_code::usage;
  }
  return actions.at(app.get_subcommands().front())();
}

}  // namespace trainwatch

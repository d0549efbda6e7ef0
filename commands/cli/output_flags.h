// SPDX-License-Identifier: Apache-2.0
// What commands that print alerts share: their form, and the least severity; and how a command says
// that it cannot run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "commands/cli/cli_commands.h"
#include "daemon/terminal/text_style.h"
#include "trainwatch/result.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// Runs a command once parsing is over, and gives its exit code.
using Action = std::function<int()>;

// Prints the error; returns `code`.
int refuse(const CliSession& session, const Error& error, int code);

enum class Form { automatic, text, json };

// Adds --format. `otherwise`: the default where standard output is no terminal.
void add_form(CLI::App& app, const std::shared_ptr<Form>& form, const std::string& otherwise);
bool is_text(Form form, const TextStyle& out);

Status parse_severity(const std::string& text, std::optional<Severity>& out);

using LeastSeverity = std::shared_ptr<std::optional<Severity>>;

// Adds --min-severity.
LeastSeverity add_least_severity(CLI::App& app, const std::string& otherwise);

}  // namespace trainwatch

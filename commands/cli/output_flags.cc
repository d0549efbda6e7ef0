// SPDX-License-Identifier: Apache-2.0
#include "commands/cli/output_flags.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "commands/cli/cli_flags.h"

namespace trainwatch {

int refuse(const CliSession& session, const Error& error, int code) {
  session.err << error.message << std::endl;
  return code;
}

void add_form(CLI::App& app, const std::shared_ptr<Form>& form, const std::string& otherwise) {
  add_checked(app, "--format", "text|json",
              "Sentences or JSON lines. Default: text on a terminal, " + otherwise,
              [form](const std::string& text) -> Status {
                if (text != "text" && text != "json") {
                  return Error{"'" + text + "' is not one of text|json"};
                }
                *form = text == "text" ? Form::text : Form::json;
                return success();
              });
}

bool is_text(Form form, const TextStyle& out) {
  return form == Form::automatic ? out.terminal : form == Form::text;
}

Status parse_severity(const std::string& text, std::optional<Severity>& out) {
  for (const Severity severity : {Severity::info, Severity::warning, Severity::critical}) {
    if (to_string(severity) != text) continue;
    out = severity;
    return success();
  }
  return Error{"'" + text + "' is not one of info|warning|critical"};
}

LeastSeverity add_least_severity(CLI::App& app, const std::string& otherwise) {
  auto least = std::make_shared<std::optional<Severity>>();
  add_checked(app, "--min-severity", "info|warning|critical",
              "Print alerts of this severity and above. Default: " + otherwise,
              [least](const std::string& text) { return parse_severity(text, *least); });
  return least;
}

}  // namespace trainwatch

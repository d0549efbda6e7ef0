// SPDX-License-Identifier: Apache-2.0
// The command line of `trainwatch`: parses it, calls one function per command, returns the exit
// code (exit_code.h). Every flag has an environment variable: --web.listen-address is
// TRAINWATCH_WEB_LISTEN_ADDRESS. A flag overrides its variable, and both override the file.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "commands/cli/options.h"
#include "daemon/app/app.h"
#include "daemon/config/config.h"

namespace trainwatch {

template <class Options>
using OfflineCommand = std::function<int(const Options&, std::ostream& out, std::ostream& err)>;

// What the commands do beyond text output; main.cc fills it in, tests record the calls.
struct Commands {
  RuleCatalog catalog;
  std::function<int(const RunOptions&)> run;
  OfflineCommand<ReplayOptions> replay;
  OfflineCommand<RunsOptions> runs;
  OfflineCommand<AnalyzeOptions> analyze;
  OfflineCommand<ReportOptions> report;
  OfflineCommand<TimelineOptions> timeline;
  OfflineCommand<TensorsOptions> tensors;
  OfflineCommand<FormatsOptions> formats;
  std::function<int(const FollowOptions&)> follow;
  std::function<int(const SampleOptions&, std::ostream& err)> sample;
  std::function<int(const DocsOptions&, std::ostream& out, std::ostream& err)> docs;
};

int run_command_line(int argc, const char* const* argv, const Commands& commands, std::ostream& out,
                     std::ostream& err);

// "--web.listen-address" -> "TRAINWATCH_WEB_LISTEN_ADDRESS"
std::string environment_variable(std::string_view flag);

}  // namespace trainwatch

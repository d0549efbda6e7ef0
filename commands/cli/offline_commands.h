// SPDX-License-Identifier: Apache-2.0
// The commands on finished files: each adds its flags to `app` and returns what runs it.
#pragma once

#include "commands/cli/output_flags.h"

namespace trainwatch {

Action define_replay(CLI::App& app, const CliSession& session);
Action define_runs(CLI::App& app, const CliSession& session);
Action define_analyze(CLI::App& app, const CliSession& session);
Action define_report(CLI::App& app, const CliSession& session);
Action define_timeline(CLI::App& app, const CliSession& session);
Action define_tensors(CLI::App& app, const CliSession& session);
Action define_formats(CLI::App& app, const CliSession& session);

}  // namespace trainwatch

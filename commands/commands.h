// SPDX-License-Identifier: Apache-2.0
// The commands, one function each; commands/main.cc passes them to the command line (`run` is in
// daemon/app/app.h). Each returns the exit code of the command. Results go to the requested file,
// or to `out`; everything else to `err`.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// `trainwatch replay`: finished files through the same pipeline as live ones, as fast as they can
// be read, alerts as JSON lines in commit order.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch runs`: state, end, attempts and account of each run, as sentences or one JSON object
// per line.
int runs(const RunsOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch analyze`: analyses of finished files, as one JSON object.
int analyze(const AnalyzeOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch report`: one HTML page about a job, from finished files.
int report(const ReportOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch timeline`: timelines, profiler traces, system metrics and alerts as one trace; with
// --counters only profiler traces, with tracks for queues and bandwidth.
int timeline(const TimelineOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch tensors`: what trials of SageMaker Debugger have saved, one JSON object per trial;
// with
// --step or --regex one line per tensor, step and worker.
int tensors(const TensorsOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch formats`: what would be read from each file, and why; without files, the formats.
int formats(const FormatsOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch follow`: subscribes to a trainwatch, prints its alerts, and reconnects by itself.
// Blocks until stopped. After a lost connection it reconnects and resumes after the last alert. The
// exit code: 0 stopped; 1 refused by the server, or the output cannot be written; 2 the URL is not
// usable.
int follow(const FollowOptions& options);

// `trainwatch docs`: a document that the program carries, as it is; without a name, what there is.
int docs(const DocsOptions& options, std::ostream& out, std::ostream& err);

// `trainwatch sample`: writes this host's CPU, memory, disk, network and GPU metrics as SageMaker's
// system-metrics files, so that a job outside SageMaker has them too. Runs until stopped
// (run_at_interval()). What this machine lacks is reported once on `err`. The exit code: 0, or
// 1 when it could not read or write.
int sample(const SampleOptions& options, std::ostream& err);

}  // namespace trainwatch

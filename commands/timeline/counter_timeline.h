// SPDX-License-Identifier: Apache-2.0
// `trainwatch timeline --counters`: traces of PyTorch's profiler as they are, with counters of
// queues and bandwidth behind their events. Several become one trace.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "commands/cli/options.h"
#include "commands/timeline/profiler_traces.h"
#include "commands/trace_files.h"
#include "pipeline/timeline/trace_pass.h"

namespace trainwatch {

// Processes the traces of one run of the command. The first failure ends it.
class CounterTimeline {
 public:
  CounterTimeline(FileSystem& files, const TimelineOptions& options, std::ostream& err)
      : files_(files), options_(options), err_(err) {}

  Status write(const std::vector<TraceFile>& found, TraceOutput& output);

 private:
  Result<std::vector<ProfilerTrace>> look_at(const std::vector<TraceFile>& found);
  Status copy_one(const TraceFile& file, TraceOutput& output);
  Status copy_all(std::vector<ProfilerTrace> traces, TraceOutput& output);
  // False: it is not a trace, and nothing was copied.
  Result<bool> copy(const TraceFile& file, TraceCopy& copy, const TraceOutput& output);
  void print_losses(const std::string& path, const TraceCopy& copy, const TracePass& pass);

  FileSystem& files_;
  const TimelineOptions& options_;
  std::ostream& err_;
};

}  // namespace trainwatch

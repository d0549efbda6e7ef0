// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <ostream>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "commands/timeline/counter_timeline.h"
#include "commands/timeline/merged_timeline.h"
#include "commands/trace_files.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  return fs::equivalent(a, b, failure) && !failure;
}

Status write(const TimelineOptions& options, const OfflineRun& run, TraceOutput& output,
             std::ostream& err) {
  const Config& config = run.config();
  PosixFileSystem files(replay_input(options.paths, config).roots);
  auto found = trace_files(files, options.paths, config);
  // The output of an earlier run may be below a path.
  std::erase_if(found, [&](const TraceFile& file) { return same_file(file.path, options.output); });
  if (options.counters) return CounterTimeline(files, options, err).write(found, output);
  return MergedTimeline(files, options, run, err).write(found, output);
}

}  // namespace

int timeline(const TimelineOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun offline_run(options, err);
  if (offline_run.refused()) return *offline_run.refused();
  const bool to_file = options.output != "-";
  for (const std::string& path : options.paths) {
    if (to_file && same_file(path, options.output) && fs::is_regular_file(path))
      return refuse({path + " is both input and output"}, exit_code::usage, err);
  }
  if (const Status can = to_file ? can_replace(options.output) : success(); !can)
    return refuse(can.error(), exit_code::failed, err);
  auto output =
      to_file ? TraceOutput::to_file(options.output) : Result(std::make_unique<TraceOutput>(out));
  if (!output) return refuse(output.error(), exit_code::failed, err);
  const Status made = write(options, offline_run, **output, err);
  if (!made) return refuse(made.error(), exit_code::failed, err);
  const Status written = (*output)->finish();
  return written ? exit_code::done : refuse(written.error(), exit_code::failed, err);
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// `trainwatch timeline`: all sources of a job in one trace, sorted by time: SageMaker's timelines,
// traces of TensorFlow and PyTorch, system metrics as counters, alerts as instants.
//
// Files are read one after another, each twice: what a profiler's trace is, and which times steps
// have, may be said last. Events are sorted in bounded memory.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "commands/cli/options.h"
#include "commands/offline_run.h"
#include "commands/timeline/profiler_traces.h"
#include "commands/trace_files.h"
#include "pipeline/decode/format.h"
#include "pipeline/timeline/event_order.h"
#include "pipeline/timeline/event_reader.h"
#include "pipeline/timeline/spill_file.h"
#include "pipeline/timeline/step_window.h"
#include "trainwatch/interner.h"

namespace trainwatch {

class MergedTimeline {
 public:
  // All outlive this.
  MergedTimeline(FileSystem& files, const TimelineOptions& options, const OfflineRun& run,
                 std::ostream& err);

  Status write(std::vector<TraceFile> found, TraceOutput& output);

 private:
  // As in SageMaker, a window of steps is found for each kind of file by itself.
  enum class Kind : std::uint8_t {
    python,
    model,
    tensorflow,
    horovod,
    smdataparallel,
    timeline,  // any other
    profiler,
    metrics,
    count_,
  };
  static constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::count_);
  struct Input {
    TraceFile file;
    const Format* format = nullptr;
    Kind kind{};
    std::string job;
    std::string writer;
    std::int64_t base_ns = 0;
    std::size_t group = 0;  // of a profiler's trace
  };

  static Kind kind_of(const std::string& path, const Format& format);
  static std::string_view name_of(Kind kind);
  Status look_at(const std::vector<TraceFile>& found);
  Status look_at(const TraceFile& file);
  Status find_steps(const Input& input);
  void name_inputs();
  void choose_windows();
  bool is_over_before(const Input& input, const TimeWindow& window) const;
  Status read(const Input& input, std::size_t number, EventOrder& order);
  std::unique_ptr<EventReader> reader_of(const Input& input, std::size_t number,
                                         TimelineSink& sink);
  void judge(EventOrder& order);
  Status finish(EventOrder& order, TraceOutput& output);
  std::int64_t tensorflow_start(const std::string& path);

  FileSystem& files_;
  const TimelineOptions& options_;
  const OfflineRun& run_;
  std::ostream& err_;
  std::vector<WatchRoot> roots_;
  std::vector<Input> inputs_;
  std::vector<ProfilerTrace> traces_;
  std::array<std::optional<StepWindow>, kKinds> steps_{};
  std::array<std::optional<TimeWindow>, kKinds> windows_{};  // nullopt: nothing of this kind
  TimeWindow widest_;
  TrackTable tracks_;
  Interner interner_;
};

}  // namespace trainwatch

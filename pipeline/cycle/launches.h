// SPDX-License-Identifier: Apache-2.0
// Which runtime calls are launches, by name, what each of them launched, and how much of it was
// queued on each stream.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/cycle/sorted_values.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// A selected launch with the device activities that it started: more than one for a graph.
struct LaunchedActivity {
  std::uint32_t launch = 0;  // index into CycleTrace::launches
  std::uint32_t rows = 0;
  std::int64_t device_ns = 0;       // sum over the rows
  std::int64_t first_start_ns = 0;  // of the earliest row
};

// What each launch started; waits for a stream or an event do not count. O(n). Most launches start
// one row, and take 4 bytes.
class LaunchedActivities {
 public:
  // `cycle` must outlive the object.
  LaunchedActivities(const CycleTrace& cycle, DeviceRows rows);

  // Calls `each(activity)` in the order of CycleTrace::launches.
  template <class Each>
  void for_each(Each&& each) const {
    for (std::uint32_t launch = 0; launch < of_launch_.size(); ++launch) {
      const std::uint32_t of = of_launch_[launch];
      if (of != kNone) each((of & kSeveral) != 0 ? several_[of & ~kSeveral] : of_row(launch, of));
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kSeveral = 0x80000000;

  LaunchedActivity of_row(std::uint32_t launch, std::uint32_t index) const {
    const DeviceActivity& row = cycle_.device[index];
    return {launch, 1, row.duration_ns, row.start_ns};
  }
  void add(std::uint32_t launch, std::uint32_t index);

  const CycleTrace& cycle_;
  std::vector<std::uint32_t> of_launch_;   // kNone, a row, or kSeveral and the index of these:
  std::vector<LaunchedActivity> several_;  // what more than one row says
};

// CUDA's asynchronous launches of kernels, copies and fills, and MTIA's: those in HTA's launch
// statistics.
bool is_plain_launch(std::string_view name);
// These and the driver's launches, ROCm's, and graphs: everything that fills a queue.
bool is_queued_launch(std::string_view name);

// A launch blocks the host while this many wait.
inline constexpr std::int64_t kFullQueue = 1024;

struct QueueChange {
  std::int64_t at_ns = 0;
  std::int64_t length = 0;  // from then on
};

// Iterates over the length of the launch queue of each stream: each launch adds one, and the start
// of its activity removes it. A graph launch adds all of its kernels at once. In memory are only
// the launch times of one stream. `cycle` and `rows` must outlive the sweep.
//
//   for (QueueSweep sweep(cycle, rows); sweep.next_stream();) {
//     for (QueueChange change; sweep.next(change);) ...
class QueueSweep {
 public:
  QueueSweep(const CycleTrace& cycle, DeviceRows rows);

  // Moves to the next stream that has queued launches; false if there are no more. O(n log n).
  bool next_stream();
  std::int64_t stream() const { return stream_; }
  // Sets `change` to the next one on this stream; false if there are no more. Changes are ordered
  // by time, and a launch comes before a start at the same time.
  bool next(QueueChange& change);

 private:
  bool is_queued(std::uint32_t index) const;
  void skip_others();

  const CycleTrace& cycle_;
  DeviceRows rows_;           // of the streams that follow
  std::vector<bool> queued_;  // by name
  std::int64_t stream_ = 0;
  std::vector<std::uint32_t> launched_;  // launches of this stream, by start
  std::size_t next_launch_ = 0;
  DeviceRows to_start_;  // of this stream
  std::int64_t length_ = 0;
};

struct QueueSummary {
  Description lengths;           // over the changes, not over time, as in HTA
  double mean_over_time = 0;     // NaN if everything happens at one time
  std::int64_t full_ns = 0;      // with a full queue
  std::int64_t duration_ns = 0;  // from the first change to the last
};

// Summarizes the current stream, and consumes its changes.
QueueSummary summarize(QueueSweep& sweep);

}  // namespace trainwatch

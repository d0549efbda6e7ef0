// Which runtime calls are launches, by name, what each of them launched, and how much of it was
// queued on each stream.
#pragma once

#include <string_view>

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

// In the order of CycleTrace::launches; waits for a stream or an event do not count. O(n).
std::vector<LaunchedActivity> launched_activities(const CycleTrace& cycle, DeviceRows rows);

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

// How much launched activity was waiting on a stream: one more from each launch to the start of its
// activity. A graph adds all its kernels at once.
struct StreamQueue {
  std::int64_t stream = 0;
  std::vector<QueueChange> changes;  // by time; launches first at equal times
};

// One entry for each stream with queued launches. O(n log n).
std::vector<StreamQueue> queue_length(const CycleTrace& cycle, DeviceRows rows);

struct QueueSummary {
  Description lengths;           // over the changes, not over time, as in HTA
  double mean_over_time = 0;     // NaN if everything happens at one time
  std::int64_t full_ns = 0;      // with a full queue
  std::int64_t duration_ns = 0;  // from the first change to the last
};

QueueSummary summarize(const StreamQueue& queue);

}  // namespace trainwatch

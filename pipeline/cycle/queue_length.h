// How much launched work waited on each stream: one more from the launch of a piece of work to its
// start. A graph adds all its kernels at once.
#pragma once

#include "pipeline/cycle/sorted_values.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// A launch blocks the host when that many wait.
inline constexpr std::int64_t kFullQueue = 1024;

struct QueueChange {
  std::int64_t at_ns = 0;
  std::int64_t length = 0;  // from then on
};

struct StreamQueue {
  std::int64_t stream = 0;
  std::vector<QueueChange> changes;  // by time; of one time launches come first
};

// One entry for each stream with queued launches. O(n log n).
std::vector<StreamQueue> queue_length(const CycleTrace& cycle, DeviceRows rows);

struct QueueSummary {
  Description lengths;           // over the changes, not over time, as HTA has it
  double mean_over_time = 0;     // NaN when all is at one time
  std::int64_t full_ns = 0;      // with a full queue
  std::int64_t duration_ns = 0;  // from the first change to the last
};

QueueSummary summarize(const StreamQueue& queue);

}  // namespace trainwatch

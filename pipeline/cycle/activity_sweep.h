// SPDX-License-Identifier: Apache-2.0
// Sweeps once through the time of a cycle's device activity: which classes of activity run
// concurrently, and when there is none. Keeps only what is running, so that its memory does not
// grow with the cycle.
#pragma once

#include <array>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "pipeline/cycle/merge_runs.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// An interval in which the same classes run.
struct ActivitySegment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint8_t classes = 0;    // a bit for each ActivityClass that runs; 0: idle
  bool within_layers = false;  // all communication that runs is (DeviceActivity::within_layers)
  const DeviceActivity* next = nullptr;  // of an idle segment: the activity that ends it, if any

  bool has(ActivityClass wanted) const {
    return ((classes >> static_cast<unsigned>(wanted)) & 1U) != 0;
  }
};

// The same rows by start, regardless of stream; those of one moment by stream.
inline std::vector<std::uint32_t> rows_by_start(const CycleTrace& cycle,
                                                std::vector<std::uint32_t> rows) {
  merge_runs(rows, [&cycle](std::uint32_t a, std::uint32_t b) {
    return cycle.device[a].start_ns < cycle.device[b].start_ns;
  });
  return rows;
}

// Calls `each(segment)` for all of the time from the first start to the last end, in order.
// `by_start` are rows by start. O(n log n) at most, in practice O(n).
template <class Each>
void sweep_activity(const CycleTrace& cycle, DeviceRows by_start, Each&& each) {
  constexpr auto kClasses = static_cast<std::size_t>(ActivityClass::count_);
  constexpr auto kCommunication = static_cast<std::size_t>(ActivityClass::communication);
  constexpr std::size_t kWithinLayers = kClasses;  // communication that is counted apart
  using End = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::array<std::uint32_t, kClasses + 1> counts{};
  if (by_start.empty()) return;
  std::int64_t now = cycle.device[by_start.front()].start_ns;
  const auto advance = [&](std::int64_t to, const DeviceActivity* next) {
    if (to <= now) return;
    std::uint8_t classes = 0;
    for (std::size_t i = 0; i < kClasses; ++i) {
      if (counts[i] > 0) classes = static_cast<std::uint8_t>(classes | (1U << i));
    }
    const bool within_layers = counts[kWithinLayers] > 0 && counts[kCommunication] == 0;
    if (within_layers) classes = static_cast<std::uint8_t>(classes | (1U << kCommunication));
    each(ActivitySegment{now, to, classes, within_layers, classes == 0 ? next : nullptr});
    now = to;
  };
  const auto end_first = [&] {
    const auto [end, ended] = running.top();
    advance(end, nullptr);
    --counts[ended];
    running.pop();
  };
  for (const std::uint32_t index : by_start) {
    const DeviceActivity& row = cycle.device[index];
    while (!running.empty() && running.top().first <= row.start_ns) end_first();
    advance(row.start_ns, &row);
    const std::size_t counted =
        row.within_layers ? kWithinLayers : static_cast<std::size_t>(row.activity_class);
    running.emplace(row.end_ns(), counted);
    ++counts[counted];
  }
  while (!running.empty()) end_first();
}

}  // namespace trainwatch

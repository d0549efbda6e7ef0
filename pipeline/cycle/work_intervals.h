// When there was work on a device.
#pragma once

#include <algorithm>

#include "pipeline/cycle/interval_set.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

inline IntervalSet busy_intervals(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<Interval> intervals;
  intervals.reserve(rows.size());
  for (const std::uint32_t index : rows)
    intervals.push_back({cycle.device[index].start_ns, cycle.device[index].end_ns()});
  return IntervalSet(std::move(intervals));
}

inline std::size_t count_of(const CycleTrace& cycle, DeviceRows rows, WorkClass work) {
  return static_cast<std::size_t>(std::ranges::count_if(
      rows, [&](std::uint32_t index) { return cycle.device[index].work == work; }));
}

// Of one class.
inline IntervalSet work_intervals(const CycleTrace& cycle, DeviceRows rows, WorkClass work) {
  std::vector<Interval> intervals;
  intervals.reserve(count_of(cycle, rows, work));
  for (const std::uint32_t index : rows) {
    const DeviceRow& row = cycle.device[index];
    if (row.work == work) intervals.push_back({row.start_ns, row.end_ns()});
  }
  return IntervalSet(std::move(intervals));
}

}  // namespace trainwatch

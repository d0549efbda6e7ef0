// When there was work on a device.
#pragma once

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

// Of one class.
inline IntervalSet work_intervals(const CycleTrace& cycle, DeviceRows rows, WorkClass work) {
  std::vector<Interval> intervals;
  for (const std::uint32_t index : rows) {
    const DeviceRow& row = cycle.device[index];
    if (row.work == work) intervals.push_back({row.start_ns, row.end_ns()});
  }
  return IntervalSet(std::move(intervals));
}

}  // namespace trainwatch

#include "pipeline/cycle/cycle_measure.h"

#include <algorithm>
#include <vector>

#include "pipeline/cycle/comm_comp_overlap.h"
#include "pipeline/cycle/work_intervals.h"

namespace trainwatch {
namespace {

// Of the device as a whole: work on any stream ends a gap.
std::array<std::int64_t, kIdleCauses> device_idle(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<std::uint32_t> by_start(rows.begin(), rows.end());
  std::sort(by_start.begin(), by_start.end(), [&cycle](std::uint32_t a, std::uint32_t b) {
    return cycle.device[a].start_ns < cycle.device[b].start_ns;
  });
  std::array<std::int64_t, kIdleCauses> idle{};
  std::int64_t busy_until = by_start.empty() ? 0 : cycle.device[by_start.front()].start_ns;
  for (const std::uint32_t index : by_start) {
    const DeviceRow& row = cycle.device[index];
    if (row.start_ns > busy_until) {
      const auto cause = static_cast<std::size_t>(idle_cause(cycle, row, busy_until));
      idle[cause] += row.start_ns - busy_until;
    }
    busy_until = std::max(busy_until, row.end_ns());
  }
  return idle;
}

}  // namespace

CycleMeasure measure(const CycleTrace& cycle, DeviceRows rows) {
  CycleMeasure found;
  const IntervalSet busy = busy_intervals(cycle, rows);
  found.window_ns = busy.extent_ns();
  found.busy_ns = busy.covered_ns();
  found.idle_ns = device_idle(cycle, rows);
  found.computation_ns = work_intervals(cycle, rows, WorkClass::computation).covered_ns();
  found.memory_ns = work_intervals(cycle, rows, WorkClass::memory).covered_ns();
  const CommCompOverlap overlap = comm_comp_overlap(cycle, rows);
  found.communication_ns = overlap.communication_ns;
  found.overlapped_ns = overlap.overlapped_ns;
  for (const StepRow& step : cycle.steps) {
    ++found.steps;
    found.step_ns += step.duration_ns;
    found.data_wait_ns += step.data_wait_ns;
  }
  return found;
}

}  // namespace trainwatch

#include "pipeline/cycle/cycle_measure.h"

#include <algorithm>
#include <vector>

#include "pipeline/cycle/idle_time.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/step_measure.h"
#include "pipeline/cycle/work_intervals.h"

namespace trainwatch {
namespace {

std::vector<std::uint32_t> sorted_by_start(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<std::uint32_t> by_start(rows.begin(), rows.end());
  std::sort(by_start.begin(), by_start.end(), [&cycle](std::uint32_t a, std::uint32_t b) {
    return cycle.device[a].start_ns < cycle.device[b].start_ns;
  });
  return by_start;
}

// Of the device as a whole: work on any stream ends a gap.
std::array<std::int64_t, kIdleCauses> device_idle(const CycleTrace& cycle, DeviceRows by_start) {
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

void count_work(const CycleTrace& cycle, DeviceRows rows, CycleMeasure& found) {
  found.work = rows.size();
  found.launched_work = static_cast<std::uint64_t>(std::ranges::count_if(
      rows, [&](std::uint32_t index) { return cycle.device[index].launch != kNoRow; }));
  for (const LaunchedWork& work : launched_work(cycle, rows)) {
    const std::int64_t call = cycle.launches[work.launch].duration_ns;
    ++found.launches;
    if (work.device_ns < call) ++found.short_launches;
    found.launch_calls_ns += call;
    found.launched_ns += work.device_ns;
  }
}

}  // namespace

CycleMeasure measure(const SelectedCycle& selected) {
  const CycleTrace& cycle = selected.cycle();
  const std::vector<std::uint32_t> rows = sorted_by_start(cycle, selected.rows());
  CycleMeasure found;
  found.subject = cycle.subject;
  found.number = cycle.number;
  found.world_size = cycle.world_size;
  const IntervalSet busy = busy_intervals(cycle, rows);
  found.window_ns = busy.extent_ns();
  found.busy_ns = busy.covered_ns();
  found.idle_ns = device_idle(cycle, rows);
  const IntervalSet computation = work_intervals(cycle, rows, WorkClass::computation);
  const IntervalSet communication = work_intervals(cycle, rows, WorkClass::communication);
  found.computation_ns = computation.covered_ns();
  found.communication_ns = communication.covered_ns();
  found.overlapped_ns = intersection(communication, computation).covered_ns();
  found.memory_ns = work_intervals(cycle, rows, WorkClass::memory).covered_ns();
  count_work(cycle, rows, found);
  found.steps = measure_steps(cycle, rows);
  return found;
}

}  // namespace trainwatch

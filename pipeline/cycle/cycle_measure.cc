#include "pipeline/cycle/cycle_measure.h"

#include <algorithm>
#include <vector>

#include "pipeline/cycle/idle_time.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/step_measure.h"

namespace trainwatch {
namespace {

// Of the device as a whole: work on any stream ends a gap.
void add_segment(const CycleTrace& cycle, const WorkSegment& segment, CycleMeasure& to) {
  const std::int64_t lasts = segment.end_ns - segment.start_ns;
  to.window_ns += lasts;
  if (segment.classes == 0) {
    const IdleCause cause = idle_cause(cycle, *segment.next, segment.start_ns);
    to.idle_ns[static_cast<std::size_t>(cause)] += lasts;
    return;
  }
  to.busy_ns += lasts;
  const bool computes = segment.has(WorkClass::computation);
  if (computes) to.computation_ns += lasts;
  if (segment.has(WorkClass::memory)) to.memory_ns += lasts;
  if (segment.has(WorkClass::communication)) {
    to.communication_ns += lasts;
    if (computes) to.overlapped_ns += lasts;
  }
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
  CycleMeasure found;
  found.subject = cycle.subject;
  found.number = cycle.number;
  found.world_size = cycle.world_size;
  count_work(cycle, selected.rows(), found);
  found.steps =
      measure_steps(cycle, rows_by_start(cycle, selected.rows()),
                    [&](const WorkSegment& segment) { add_segment(cycle, segment, found); });
  return found;
}

}  // namespace trainwatch

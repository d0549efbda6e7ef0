// Computes the CycleSummary of a cycle: what the device did in each step of the host, and why it
// was idle.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "pipeline/cycle/activity_sweep.h"
#include "pipeline/cycle/interval_set.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/cycle_summary.h"

namespace trainwatch {

// Attributes time to the step during which it passes, not the one that launched the activity: each
// moment of a step counts once. If steps overlap, the later one begins where the earlier one ends.
class StepAccumulator {
 public:
  // `extent` is from the first start to the last end of device activity: the only step of a cycle
  // that has none. `cycle` must outlive the object.
  StepAccumulator(const CycleTrace& cycle, const Interval& extent);

  // The segments of device activity in order, including the idle times before and after it that lie
  // in steps.
  void add(const ActivitySegment& segment);
  // Call once. In the order of the cycle's steps.
  std::vector<StepSummary> take() { return std::move(steps_); }

 private:
  void add_part(const ActivitySegment& segment, const Interval& part, StepSummary& to) const;
  void add_gap(const Interval& gap, const DeviceActivity* next, StepSummary& to) const;
  IdleReason reason_of(const Interval& gap, const DeviceActivity* next) const;
  void add_collectives(const Interval& within, StepSummary& to) const;

  const CycleTrace& cycle_;
  IntervalSet data_waits_;
  IntervalSet host_pauses_;
  IntervalSet blocking_calls_;
  std::vector<StepSummary> steps_;
  std::vector<Interval> times_;  // of steps_, disjoint
  std::size_t first_open_ = 0;   // the steps before it have ended
};

// All steps of a cycle. `by_start` are the selected rows, by start; `each(segment)` also receives
// the segments.
template <class Each>
std::vector<StepSummary> summarize_steps(const CycleTrace& cycle, DeviceRows by_start,
                                         Each&& each) {
  Interval extent;
  if (!by_start.empty()) extent.start_ns = cycle.device[by_start.front()].start_ns;
  for (const std::uint32_t index : by_start)
    extent.end_ns = std::max(extent.end_ns, cycle.device[index].end_ns());
  StepAccumulator accumulator(cycle, extent);
  if (by_start.empty()) return accumulator.take();
  const auto far = std::numeric_limits<std::int64_t>::max();
  accumulator.add({-far, extent.start_ns, 0, &cycle.device[by_start.front()]});
  sweep_activity(cycle, by_start, [&](const ActivitySegment& segment) {
    accumulator.add(segment);
    each(segment);
  });
  accumulator.add({extent.end_ns, far, 0, nullptr});
  return accumulator.take();
}

// Summarises the selected activity. A cycle without steps counts as one step, from the first start
// to the last end of its activity. O(n log n).
CycleSummary summarize(const SelectedCycle& selected);

}  // namespace trainwatch

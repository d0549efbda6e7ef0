// Makes the CycleSummary of a cycle: what the device did in each step of the host, and why it had
// nothing to do.
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

// By time, not by where work was launched: each moment of a step counts once. Of steps that
// overlap, the later one begins where the earlier one ends.
class StepAccumulator {
 public:
  // `extent` is from the first start of work to the last end: the only step of a cycle that has
  // none. `cycle` outlives the object.
  StepAccumulator(const CycleTrace& cycle, const Interval& extent);

  // The segments of the work in order, with the times without work before and after it that lie
  // in steps.
  void add(const ActivitySegment& segment);
  // Once. In the order of the cycle's steps.
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
  std::size_t first_open_ = 0;   // the steps before it are over
};

// All steps of a cycle. `by_start` are the rows that count, by start; `each(segment)` hears of the
// work as well.
template <class Each>
std::vector<StepSummary> measure_steps(const CycleTrace& cycle, DeviceRows by_start, Each&& each) {
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

// Of the work that counts. A cycle without steps is measured as one step, from the first start of
// work to the last end. O(n log n).
CycleSummary measure(const SelectedCycle& selected);

}  // namespace trainwatch

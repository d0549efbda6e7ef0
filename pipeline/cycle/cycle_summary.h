// SPDX-License-Identifier: Apache-2.0
// Computes the CycleSummary of a cycle: what the device did in each step of the host, and why it
// was idle.
#pragma once

#include <optional>
#include <unordered_map>
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
  // `by_start` are rows of device activity, by start. A cycle without steps has one, from the first
  // start to the last end. `cycle` must outlive the object.
  StepAccumulator(const CycleTrace& cycle, DeviceRows by_start);

  Interval extent() const { return extent_; }  // of the rows

  // The segments of device activity in order, including the idle times before and after it that lie
  // in steps.
  void add(const ActivitySegment& segment);
  // Call once. In the order of the cycle's steps.
  std::vector<StepSummary> take() { return std::move(steps_); }

 private:
  // `unawaited`: see StepSummary::unawaited_communication_ns.
  void add_uniform(const ActivitySegment& segment, bool unawaited);
  void end_exposed(const ActivitySegment& next);
  void add_step(const StepRow& step);
  void add_part(const ActivitySegment& segment, bool unawaited, const Interval& part,
                StepSummary& to) const;
  void add_gap(const ActivitySegment& gap, const Interval& part, StepSummary& to) const;
  void add_idle(const Interval& idle, IdleReason otherwise, StepSummary& to) const;
  std::int64_t ready_ns(const DeviceActivity& next, std::int64_t since_ns) const;
  const DeviceActivity* work_from(std::int64_t start_ns) const;
  void add_collectives(const Interval& within, std::size_t step);
  void pass_edges(const ActivitySegment& segment, bool hidden);

  // A collective of a step begins or ends.
  struct Edge {
    std::int64_t at_ns = 0;
    std::uint32_t step = 0;
    std::uint32_t collective = 0;
    bool ends = false;
  };

  const CycleTrace& cycle_;
  DeviceRows by_start_;
  Interval extent_{};
  bool launches_known_ = false;
  std::int64_t launch_latency_ns_ = 0;
  IntervalSet data_waits_;
  IntervalSet host_pauses_;
  IntervalSet blocking_calls_;
  std::vector<StepSummary> steps_;
  std::vector<Interval> times_;  // of steps_, disjoint
  std::size_t first_open_ = 0;   // the steps before it have ended
  std::vector<Edge> edges_;      // by time
  std::size_t next_edge_ = 0;
  std::int64_t covered_ns_ = 0;  // so far, with what hides collectives
  std::unordered_map<std::uint32_t, std::int64_t> graph_starts_;  // by launch
  // Communication alone, until something else begins: by whether it is within layers.
  std::vector<ActivitySegment> exposed_;
};

// Summarises a cycle. Steps count all device activity, also what was launched before the recording
// began; everything else counts the selected activity. A cycle without steps counts as one step,
// from the first start to the last end of its activity. O(n log n).
CycleSummary summarize(const SelectedCycle& selected);

}  // namespace trainwatch

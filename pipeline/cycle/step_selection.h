// SPDX-License-Identifier: Apache-2.0
// Selects the rows of a cycle by step, and assigns each to its step.
//
// Device activity is selected if its launch is: it may run long after the step that launched it.
// Activity without a launch, left over from before the recording, is selected in `all` only, and so
// is every row of a cycle with fewer than two steps, as in HTA.
//
//   included      launches up to the end of the last step. HTA's include_last_profiler_step means
//                 this, but compares times with two different origins and keeps every launch.
//   without_last  launches before the last step begins. If the device has annotations of steps,
//                 before the last of these: HTA takes them for steps.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

// Rows of CycleTrace::device, in its order.
using DeviceRows = std::span<const std::uint32_t>;

class SelectedCycle {
 public:
  // `cycle` must outlive the object.
  SelectedCycle(const CycleTrace& cycle, StepSelection steps);

  const CycleTrace& cycle() const { return cycle_; }
  // The selected activity on streams.
  DeviceRows rows() const { return rows_; }
  // The same, once.
  std::vector<std::uint32_t> take_rows() { return std::move(rows_); }
  bool counts(const AnnotationRow& annotation) const;
  // Everything that begins before the selection ends.
  bool counts(const HostEvent& row) const { return row.start_ns <= last_host_start_ns_; }
  // For whole steps: all but the last one in without_last, even if parts of that are selected.
  bool counts(const StepRow& step) const;

 private:
  const CycleTrace& cycle_;
  std::int64_t last_host_start_ns_;
  std::int64_t last_device_start_ns_;
  bool all_ = false;
  bool without_last_ = false;
  std::vector<std::uint32_t> rows_;
};

struct StepActivity {
  std::int64_t number = 0;
  std::int64_t duration_ns = 0;  // on the host
  std::vector<std::uint32_t> rows;
};

// The selected activity, by the step that launched it; steps without any are left out.
std::vector<StepActivity> activity_by_step(const SelectedCycle& selected);

}  // namespace trainwatch

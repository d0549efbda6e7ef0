// Which rows of a cycle count, by the steps that are asked for, and which step each belongs to.
//
// Work on a device counts when its launch does: it may run long after the step that launched it.
// Work without a launch, left over from before the recording, counts only in `all`, and so does
// every row of a cycle with fewer than two steps, as in HTA.
//
//   included      launches up to the end of the last step. HTA's include_last_profiler_step means
//                 this, but compares times of two origins and keeps every launch.
//   without_last  launches before the last step begins. Where the device has annotations of steps,
//                 before the last of these: HTA takes them for steps.
#pragma once

#include <cstdint>
#include <span>
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
  // Work on streams that counts.
  DeviceRows rows() const { return rows_; }
  bool counts(const AnnotationRow& annotation) const;
  // What begins before the selection ends.
  bool counts(const HostEvent& row) const { return row.start_ns <= last_host_start_ns_; }
  // As a whole: all but the last one in without_last, whatever of that one counts.
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

// The work that counts, by the step in which it was launched; steps without work are left out.
std::vector<StepActivity> activity_by_step(const SelectedCycle& selected);

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Why the streams of a device were idle between one activity and the next (IdleCause).
//
// An activity whose launch is not known is not host_wait. A gap starts at the end of the activity
// that began before it on the stream, so an overlap gives a negative gap.
#pragma once

#include <array>

#include "pipeline/cycle/sorted_values.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/cycle_summary.h"

namespace trainwatch {

inline constexpr std::int64_t kUsualKernelGapNs = 30'000;

// Why nothing ran between `idle_since_ns` and the start of `row`.
IdleCause idle_cause(const CycleTrace& cycle, const DeviceActivity& row,
                     std::int64_t idle_since_ns);

struct IdleGaps {
  std::int64_t sum_ns = 0;
  Description each_ns;
};

struct StreamIdle {
  std::int64_t stream = 0;
  std::array<IdleGaps, kIdleCauses> by_cause;
};

// Counts kernels, copies and fills. One entry for each stream that has any. O(n log n).
std::vector<StreamIdle> idle_time(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch

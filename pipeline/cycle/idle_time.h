// Why the streams of a device were idle between one piece of work and the next.
//
//   host_wait    the work had not been launched when the work before it ended
//   kernel_wait  it had been, and began within 30 us: the usual gap between two kernels
//   other        it had been, and began later: it waited for another stream, or for an event
//
// Work whose launch is not known is not host_wait. A gap is counted from the end of the work that
// began before it on the stream, so work that overlaps it makes one below zero.
#pragma once

#include <array>

#include "pipeline/cycle/sorted_values.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

enum class IdleCause : std::uint8_t { host_wait, kernel_wait, other, count_ };
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::count_);
inline constexpr std::int64_t kUsualKernelGapNs = 30'000;

// Why nothing ran between `idle_since_ns` and the start of `row`.
IdleCause idle_cause(const CycleTrace& cycle, const DeviceRow& row, std::int64_t idle_since_ns);

struct IdleGaps {
  std::int64_t sum_ns = 0;
  Description each_ns;
};

struct StreamIdle {
  std::int64_t stream = 0;
  std::array<IdleGaps, kIdleCauses> by_cause;
};

// Kernels, copies and fills count. One entry for each stream that has any. O(n log n).
std::vector<StreamIdle> idle_time(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch

// Which kinds of work a device's time goes to, and which kernels.
#pragma once

#include <array>

#include "pipeline/analysis/hta/durations_by_name.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// Kinds of work at the same time, one bit each.
inline constexpr std::size_t kComputationBit = 1;
inline constexpr std::size_t kCommunicationBit = 2;
inline constexpr std::size_t kMemoryBit = 4;
inline constexpr std::size_t kActivityMixes = 8;

// How long each mix of work went on, in ns. Work of class `other` does not count. O(n log n).
std::array<std::int64_t, kActivityMixes> time_by_activity_mix(const CycleTrace& cycle,
                                                              DeviceRows rows, bool with_memory);

// Kernels of one class by name, as durations_by_name() has them.
std::vector<NameStats> kernels_by_name(const CycleTrace& cycle, DeviceRows rows, ActivityClass work,
                                       std::size_t most);

}  // namespace trainwatch

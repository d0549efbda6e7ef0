#include "pipeline/cycle/kernel_breakdown.h"

#include <algorithm>

#include "pipeline/cycle/work_sweep.h"

namespace trainwatch {

std::array<std::int64_t, kWorkMixes> time_by_work_mix(const CycleTrace& cycle, DeviceRows rows,
                                                      bool with_memory) {
  std::array<std::int64_t, kWorkMixes> times{};
  sweep_work(cycle, rows_by_start(cycle, rows), [&](const WorkSegment& segment) {
    std::size_t mix = 0;
    if (segment.has(WorkClass::computation)) mix |= kComputationBit;
    if (segment.has(WorkClass::communication)) mix |= kCommunicationBit;
    if (with_memory && segment.has(WorkClass::memory)) mix |= kMemoryBit;
    times[mix] += segment.end_ns - segment.start_ns;
  });
  times[0] = 0;
  return times;
}

std::vector<NameStats> kernels_by_name(const CycleTrace& cycle, DeviceRows rows, WorkClass work,
                                       std::size_t most) {
  std::vector<NamedDuration> durations;
  const auto is_one = [&](std::uint32_t index) { return cycle.device[index].work == work; };
  durations.reserve(static_cast<std::size_t>(std::ranges::count_if(rows, is_one)));
  for (const std::uint32_t index : rows) {
    const DeviceRow& row = cycle.device[index];
    if (is_one(index)) durations.push_back({row.name, row.duration_ns});
  }
  return durations_by_name(cycle.names, std::move(durations), most);
}

}  // namespace trainwatch

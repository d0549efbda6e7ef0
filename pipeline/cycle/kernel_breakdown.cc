#include "pipeline/cycle/kernel_breakdown.h"

#include <algorithm>

#include "pipeline/cycle/work_intervals.h"

namespace trainwatch {
namespace {

// A kind of work begins or ends.
struct Change {
  std::int64_t at_ns = 0;
  std::size_t bit = 0;
};

}  // namespace

std::array<std::int64_t, kWorkMixes> time_by_work_mix(const CycleTrace& cycle, DeviceRows rows,
                                                      bool with_memory) {
  std::vector<Change> changes;
  const auto add = [&](WorkClass work, std::size_t bit) {
    const IntervalSet busy = work_intervals(cycle, rows, work);
    changes.reserve(changes.size() + 2 * busy.intervals().size());
    for (const Interval& interval : busy.intervals()) {
      changes.push_back({interval.start_ns, bit});
      changes.push_back({interval.end_ns, bit});
    }
  };
  add(WorkClass::computation, kComputationBit);
  add(WorkClass::communication, kCommunicationBit);
  if (with_memory) add(WorkClass::memory, kMemoryBit);
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at_ns < b.at_ns; });
  std::array<std::int64_t, kWorkMixes> times{};
  std::size_t mix = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) times[mix] += changes[i].at_ns - changes[i - 1].at_ns;
    mix ^= changes[i].bit;  // disjoint intervals: each change begins or ends its kind
  }
  times[0] = 0;
  return times;
}

std::vector<NameStats> kernels_by_name(const CycleTrace& cycle, DeviceRows rows, WorkClass work,
                                       std::size_t most) {
  std::vector<NamedDuration> durations;
  durations.reserve(count_of(cycle, rows, work));
  for (const std::uint32_t index : rows) {
    const DeviceRow& row = cycle.device[index];
    if (row.work == work) durations.push_back({row.name, row.duration_ns});
  }
  return durations_by_name(cycle.names, std::move(durations), most);
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/idle_time.h"

#include <utility>

namespace trainwatch {
namespace {

// The gaps of the current stream.
class StreamGaps {
 public:
  explicit StreamGaps(std::int64_t stream) { found_.stream = stream; }

  void add(IdleCause cause, std::int64_t gap_ns) {
    const auto index = static_cast<std::size_t>(cause);
    found_.by_cause[index].sum_ns += gap_ns;
    values_[index].push_back(static_cast<double>(gap_ns));
  }
  StreamIdle take() {
    for (std::size_t i = 0; i < kIdleCauses; ++i)
      found_.by_cause[i].each_ns = describe(std::move(values_[i]));
    return found_;
  }

 private:
  StreamIdle found_;
  std::array<std::vector<double>, kIdleCauses> values_;
};

bool is_work(const DeviceActivity& row) {
  return row.kind != DeviceKind::sync;
}

}  // namespace

IdleCause idle_cause(const CycleTrace& cycle, const DeviceActivity& row,
                     std::int64_t idle_since_ns) {
  if (row.launch != kNoLaunch && cycle.launches[row.launch].start_ns > idle_since_ns)
    return IdleCause::host_wait;
  return row.start_ns - idle_since_ns < kUsualKernelGapNs ? IdleCause::kernel_wait
                                                          : IdleCause::other;
}

std::vector<StreamIdle> idle_time(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<StreamIdle> found;
  const DeviceActivity* before = nullptr;
  StreamGaps gaps(0);
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle.device[index];
    if (!is_work(row)) continue;
    if (before != nullptr && cycle.stream_of(*before) == cycle.stream_of(row)) {
      gaps.add(idle_cause(cycle, row, before->end_ns()), row.start_ns - before->end_ns());
    } else {
      if (before != nullptr) found.push_back(gaps.take());
      gaps = StreamGaps(cycle.stream_of(row));
    }
    before = &row;
  }
  if (before != nullptr) found.push_back(gaps.take());
  return found;
}

}  // namespace trainwatch

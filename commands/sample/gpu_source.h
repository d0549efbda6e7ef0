// The source of GPU metrics: NVML if the machine has it, a fake in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trainwatch {

struct GpuReading {
  std::uint32_t gpu = 0;
  std::optional<double> utilization_percent;  // empty: not reported (MIG, for example)
  std::optional<double> memory_percent;       // used share of the device's memory
};

class GpuSource {
 public:
  virtual ~GpuSource() = default;
  // Replaces `out`. A device that fails is left out of this reading and asked again next time.
  virtual void read(std::vector<GpuReading>& out) = 0;
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Pressure stall information of the kernel (PSI): for how much of the time tasks waited for CPU,
// disk or memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/sample/metric.h"
#include "commands/sample/proc_file.h"

namespace trainwatch {

// Microseconds since the machine was started. The kernel's own averages, over 10 s and more, lag
// too far behind to explain a pause of two.
struct Pressure {
  std::optional<std::uint64_t> some;  // in which some task waited
  std::optional<std::uint64_t> full;  // in which all did; kernels before 5.13 omit it for the CPU
};

Pressure parse_pressure(std::string_view text);

class PressureSampler {
 public:
  // A file that is not there, as with a kernel without PSI, gives nothing.
  explicit PressureSampler(const std::string& proc);

  // Percent of the time since the last call, `seconds` ago; nothing in the first call.
  void sample(double seconds, std::vector<Metric>& out);

 private:
  struct Resource {
    ProcFile file;
    std::string_view some;  // names of the metrics
    std::string_view full;
    Pressure last{};
  };
  std::vector<Resource> resources_;
};

}  // namespace trainwatch

// Pressure stall information of the kernel: how much of the last 10 s tasks waited for CPU, disk
// or memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/sample/metric.h"
#include "commands/sample/proc_file.h"

namespace trainwatch {

// Percent of the last 10 s.
struct Pressure {
  std::optional<double> some;  // in which some task waited
  std::optional<double> full;  // in which all did; kernels before 5.13 do not say it of the CPU
};

Pressure parse_pressure(std::string_view text);

class PressureSampler {
 public:
  // A file that is not there, as with a kernel without PSI, gives nothing.
  explicit PressureSampler(const std::string& proc)
      : cpu_(proc + "/pressure/cpu"),
        io_(proc + "/pressure/io"),
        memory_(proc + "/pressure/memory") {}

  void sample(std::vector<Metric>& out);

 private:
  ProcFile cpu_;
  ProcFile io_;
  ProcFile memory_;
};

}  // namespace trainwatch

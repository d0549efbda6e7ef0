// SPDX-License-Identifier: Apache-2.0
// The line of a rule case that stands for samples of system metrics.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rules/words.h"
#include "trainwatch/result.h"
#include "trainwatch/series.h"

namespace trainwatch::cases {

struct TickLine {
  struct Device {
    std::string_view name;  // "gpu0"
    Resource resource = Resource::other;
    std::uint32_t number = 0;
    std::vector<double> values;  // repeated from the first; an infinity stands for no sample

    bool of_gpu() const {
      return resource != Resource::cpu_utilization && resource != Resource::cpu_io_wait &&
             resource != Resource::memory_used;
    }
  };
  std::int64_t count = 0;
  double seconds = 0.5;  // between samples
  std::vector<Device> devices;
};

// "ticks COUNT DEVICE=VALUES... [every SECONDS]", as tests/rules/README.md has it; refers to the
// words.
Result<TickLine> read_tick_line(const Words& words);

}  // namespace trainwatch::cases

// SPDX-License-Identifier: Apache-2.0
// What the samplers give.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch {

// One value of one series, one line of a system-metrics file. The name is `name`, with `device`
// behind it where the series belongs to a numbered device ("cpu" and 3 -> "cpu3").
struct Metric {
  static constexpr std::int64_t kNoDevice = -1;
  std::string_view type;  // all three are string literals
  std::string_view name;
  std::string_view dimension;
  std::int64_t device = kNoDevice;
  double value = 0;  // percent, 1/s or bytes/s; of a GPU also MHz, degrees Celsius, watts
};

}  // namespace trainwatch

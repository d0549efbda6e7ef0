// SPDX-License-Identifier: Apache-2.0
// The time of day of lines without a date: "[14:03:22] step 5", "14:03:22,123 INFO step 5". The day
// is unknown, but the time since the previous line is not.
#pragma once

#include <optional>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class DayClock {
 public:
  // Seconds since the midnight before the first line. Call once for each line, in order. nullopt:
  // the first 96 bytes have no time of day, or only a remaining time ("eta: 0:03:54").
  std::optional<double> read(std::string_view line);

  void state(StateIo& io) {
    io(last_);
    io(days_);
  }

 private:
  double last_ = 0;  // of its day
  double days_ = 0;  // midnights passed
};

}  // namespace trainwatch

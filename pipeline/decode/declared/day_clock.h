// SPDX-License-Identifier: Apache-2.0
// The time of day of lines that have no date: "[14:03:22] step 5", "14:03:22,123 INFO step 5". On
// which day that was nobody says, but how much later than the line before.
#pragma once

#include <optional>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class DayClock {
 public:
  // Seconds since the midnight before the first line; call in the order of the lines. nullopt: it
  // has no time in its first 96 bytes, or only one that is left ("eta: 0:03:54").
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

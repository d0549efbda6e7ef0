// SPDX-License-Identifier: Apache-2.0
// How long the tailer waits. It reads no clock: the caller passes the time of each scan.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "trainwatch/time.h"

namespace trainwatch {

// A monotonic time.
using ScanTime = std::chrono::steady_clock::time_point;

// The time during which the files were watched. At most `longest_gap` counts between two scans:
// nothing is seen while a read hangs or the process is stopped, so no patience may run out.
class PatienceClock {
 public:
  explicit PatienceClock(Nanos longest_gap) : longest_gap_(longest_gap) {}

  void advance(ScanTime now) {
    if (last_) now_ += std::clamp<Nanos>(now - *last_, Nanos{0}, longest_gap_);
    last_ = now;
  }
  Nanos now() const { return now_; }

 private:
  Nanos longest_gap_;
  Nanos now_{0};
  std::optional<ScanTime> last_;
};

// Measures for how long a condition has held.
class ConditionTimer {
 public:
  void set(bool holds, Nanos now) {
    if (!holds) {
      since_.reset();
    } else if (!since_) {
      since_ = now;
    }
  }
  void clear() { since_.reset(); }
  // False if the condition does not hold now.
  bool held_for(Nanos patience, Nanos now) const { return since_ && now - *since_ >= patience; }

 private:
  std::optional<Nanos> since_;
};

}  // namespace trainwatch

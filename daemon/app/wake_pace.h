// SPDX-License-Identifier: Apache-2.0
// When the reader wakes up for what was written. Waking up, and waking the engine, costs as much as
// reading twenty steps, and a fast job writes a thousand times a second.
//
// The first write after a pause is read at once. While writes go on, wake-ups are further and
// further apart: half a millisecond at first, as the ranks of a job write their steps one after
// another, and 20 ms once they have gone on for a second. No write waits longer than that.
#pragma once

#include <algorithm>
#include <chrono>

namespace trainwatch {

class WakePace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  static constexpr Duration kLeast = std::chrono::microseconds(500);  // apart
  static constexpr Duration kMost = std::chrono::milliseconds(20);
  static constexpr Duration kPause = std::chrono::milliseconds(4);
  static constexpr Duration kGrowth = std::chrono::microseconds(200);  // for each wake-up

  // Something was written, as seen at `now`: when to wake up for it.
  TimePoint next(TimePoint now) {
    apart_ = now < earliest_ + kPause ? std::min(apart_ + kGrowth, kMost) : kLeast;
    const TimePoint begin = std::max(now, earliest_);
    earliest_ = begin + apart_;
    return begin;
  }

  // Writes are not waited for until then: while they go on there will be some, and each would wake
  // the reader only to let it sleep again.
  TimePoint asleep_until() const { return apart_ < kLongSleep ? TimePoint{} : earliest_; }

 private:
  static constexpr Duration kLongSleep = std::chrono::milliseconds(2);

  Duration apart_ = kLeast;
  TimePoint earliest_{};
};

}  // namespace trainwatch

// When the reader wakes up for what was written. Waking up, and waking the engine, costs more than
// reading a few lines, and a fast job writes a thousand times a second.
//
// The first write after a pause is read at once. The ranks of a job write their steps one after
// another, so wake-ups keep half a millisecond apart; and beyond a burst there are at most 200 of
// them a second, which delays an alert by 5 ms at most.
#pragma once

#include <algorithm>
#include <chrono>

namespace trainwatch {

class WakePace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  static constexpr Duration kApart = std::chrono::microseconds(500);
  static constexpr Duration kSustained = std::chrono::milliseconds(5);  // apart, on average
  static constexpr int kBurst = 40;  // wake-ups that may come faster

  // Something was written, as seen at `now`: when to wake up for it. The limit is the generic cell
  // rate algorithm (ITU-T I.371).
  TimePoint next(TimePoint now) {
    const TimePoint begin = std::max({now, earliest_, even_ - kBurst * kSustained});
    earliest_ = begin + kApart;
    even_ = std::max(even_, begin) + kSustained;
    return begin;
  }

 private:
  TimePoint earliest_{};
  TimePoint even_{};  // when the next one is due at the sustained pace
};

}  // namespace trainwatch

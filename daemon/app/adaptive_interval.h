// SPDX-License-Identifier: Apache-2.0
// How often something is done whose cost depends on what it finds: every `least`, but rarer while
// that would take more than its share of a core, and at least every `most`.
#pragma once

#include <algorithm>
#include <chrono>

namespace trainwatch {

class AdaptiveInterval {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // At most one `share`-th of the time goes into it.
  AdaptiveInterval(Duration least, int share, Duration most)
      : least_(least), share_(share), most_(std::max(least, most)) {}

  // It was done at `began` and took `cost`. `seldom`: no sooner again than that.
  void done(TimePoint began, Duration cost, Duration seldom = {}) {
    const Duration least = std::max(least_, seldom);
    next_ = began + std::clamp(share_ * cost, least, std::max(least, most_));
  }
  // The beginning of time if it was never done.
  TimePoint next() const { return next_; }

 private:
  Duration least_;
  int share_;
  Duration most_;
  TimePoint next_{};
};

}  // namespace trainwatch

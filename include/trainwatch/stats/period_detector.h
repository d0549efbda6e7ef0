// Finds the period of events that recur on a fixed grid of step numbers: "every 20th step".
//
// A period is accepted after three spikes with equal gaps, or after four if one of the gaps is
// twice the others (one spike was missed). While a period is known, a gap of one or two periods
// confirms it; any other gap, or a second missing spike, discards it. Gaps of 1 are no period:
// that is a slow stretch, not a rhythm. Step numbers are 0..kLargestStep.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "trainwatch/state_io.h"

namespace trainwatch {

class PeriodDetector {
 public:
  static constexpr std::int64_t kLargestStep = std::int64_t{1} << 53;

  // A spike at this step. A step number that does not increase starts over.
  void spike(std::int64_t step) {
    if (known_ > 0 && step <= steps_[0]) *this = PeriodDetector{};
    std::shift_right(steps_.begin(), steps_.end(), 1);
    steps_[0] = step;
    known_ = std::min<std::uint32_t>(known_ + 1, kKept);
    const std::int64_t last = known_ >= 2 ? gap(0) : 0;
    if (period_ != 0 && (last == period_ || last == 2 * period_)) return;
    period_ = find();
  }

  // A step without a spike.
  void quiet(std::int64_t step) {
    if (period_ == 0) return;
    if (step >= steps_[0] + 2 * period_ || step < steps_[0]) period_ = 0;
  }

  // Steps from one spike to the next, 0 if there is no period.
  std::int64_t period() const { return period_; }

  void state(StateIo& io) {
    io(steps_);
    io(known_);
    io(period_);
    const auto impossible = [](std::int64_t n) { return n < 0 || n > kLargestStep; };
    if (known_ > kKept || impossible(period_) || std::ranges::any_of(steps_, impossible)) {
      *this = PeriodDetector{};
      io.fail();
    }
  }

 private:
  static constexpr std::uint32_t kKept = 4;
  static constexpr std::int64_t kShortest = 2;

  std::int64_t gap(std::size_t i) const { return steps_[i] - steps_[i + 1]; }

  std::int64_t find() const {
    if (known_ < 3) return 0;
    const bool even = gap(0) == gap(1);
    const bool one_missed = known_ == kKept && gap(0) == gap(2) && gap(1) == 2 * gap(0);
    return (even || one_missed) && gap(0) >= kShortest ? gap(0) : 0;
  }

  std::array<std::int64_t, kKept> steps_{};  // newest first
  std::uint32_t known_ = 0;
  std::int64_t period_ = 0;
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Finds the period of events that recur on a fixed grid of step numbers: "every 500th step".
//
// A period is accepted when chance is excluded: of n events since the first one on the grid, m lie
// on the grid of a period p. Two of them define it. Had each of the n - 2 others fallen anywhere,
// it would be on the grid with probability 1/p, and as many would with the tail of the binomial
// distribution. That must be below kChance, divided by the number of periods that were tried. So
// every 2nd step takes 19 events without an exception, every 20th six, every 500th four. At least
// three of four points of the grid must have an event.
//
// While a period is known, an event on its grid confirms it; two points of the grid without an
// event discard it. Gaps of 1 are no period: that is a slow stretch. Step numbers are
// 0..kLargestStep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/stats/binomial.h"

namespace trainwatch {

class PeriodDetector {
 public:
  static constexpr std::int64_t kLargestStep = std::int64_t{1} << 53;

  // An event at this step. A step number that does not increase starts over.
  void event(std::int64_t step) {
    if (!steps_.empty() && step <= steps_.front()) *this = PeriodDetector{};
    if (steps_.size() == kKept) steps_.pop_back();
    steps_.insert(steps_.begin(), step);
    if (period_ > 0 && is_due(step)) {
      latest_ = step;
      return;
    }
    if (period_ == 0) find();
  }

  // A step without an event.
  void quiet(std::int64_t step) {
    if (period_ == 0) return;
    if (step >= latest_ + 2 * period_ || step < latest_) period_ = 0;
  }

  // Steps from one event to the next, 0 if there is no period.
  std::int64_t period() const { return period_; }
  // The step is on the grid.
  bool is_due(std::int64_t step) const {
    return period_ > 0 && step >= first_ && (step - first_) % period_ == 0;
  }
  // The first event on the grid that is remembered.
  std::int64_t first() const { return first_; }

  void state(StateIo& io) {
    io(steps_);
    io(period_);
    io(first_);
    io(latest_);
    const auto impossible = [](std::int64_t n) { return n < 0 || n > kLargestStep; };
    if (steps_.size() > kKept || (period_ > 0 && steps_.empty()) || impossible(period_) ||
        impossible(first_) || impossible(latest_) || std::ranges::any_of(steps_, impossible)) {
      *this = PeriodDetector{};
      io.fail();
    }
  }

 private:
  static constexpr std::size_t kKept = 32;
  static constexpr std::size_t kTried = 3;
  static constexpr double kChance = 3e-5;
  static constexpr std::int64_t kShortest = 2;

  // The events on the grid of this period through the newest one, as far back as the grid is kept.
  struct Grid {
    std::int64_t first = 0;
    std::uint32_t on = 0;      // events on it
    std::uint32_t events = 0;  // since its first
  };
  Grid grid(std::int64_t period) const {
    Grid found{steps_[0], 1, 1};
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      if (found.first - steps_[i] > 2 * period) break;
      if ((steps_[0] - steps_[i]) % period != 0) continue;
      found = {steps_[i], found.on + 1, static_cast<std::uint32_t>(i + 1)};
    }
    return found;
  }

  void find() {
    for (std::size_t i = 1; i <= kTried && i < steps_.size(); ++i) {
      const std::int64_t period = steps_[0] - steps_[i];
      if (period < kShortest) continue;
      const Grid found = grid(period);
      const std::int64_t points = (steps_[0] - found.first) / period + 1;
      if (found.on < 3 || 4 * static_cast<std::int64_t>(found.on) < 3 * points) continue;
      if (chance(found, period) > kChance / kTried) continue;
      period_ = period;
      first_ = found.first;
      latest_ = steps_[0];
      return;
    }
  }

  // That so many of the other events are on the grid.
  static double chance(const Grid& grid, std::int64_t period) {
    return binomial_tail(static_cast<std::int64_t>(grid.on) - 2,
                         static_cast<std::int64_t>(grid.events) - 2,
                         1 / static_cast<double>(period));
  }

  std::vector<std::int64_t> steps_;  // newest first; most ranks have none
  std::int64_t period_ = 0;
  std::int64_t first_ = 0;
  std::int64_t latest_ = 0;  // event on the grid
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Stages of a curriculum: each makes the sequences somewhat longer, at a round step. Where the
// writer gives no phases, that is the only difference from a machine that has become slower.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trainwatch/event.h"
#include "trainwatch/pace.h"
#include "trainwatch/state_io.h"

namespace trainwatch::throughput_regression {

class Stages {
 public:
  // Call for each iteration while the level is worse than before.
  void look_at(const Pace& pace) {
    if (pace.rise_step == latest_ && latest_ != kNoStep) return;
    const bool first = latest_ == kNoStep;
    const std::int64_t distance = first ? 0 : pace.rise_step - latest_;
    const bool small = pace.rise > 0 && pace.rise < kLargest;
    const bool expected = is_round(pace) || comes_again(distance);
    alone_ = (first || alone_) && small && expected;
    latest_ = pace.rise_step;
    distance_ = distance;
  }
  // All rises so far looked like stages.
  bool alone() const { return alone_; }

  void state(StateIo& io) {
    io(latest_);
    io(distance_);
    io(alone_);
    if (latest_ < kNoStep) io.fail();
  }

 private:
  static constexpr double kLargest = 1.3;     // times the level before
  static constexpr std::int64_t kRound = 25;  // steps
  static constexpr double kExact = 5;         // standard deviations of an iteration
  static constexpr double kNearly = 2;
  static constexpr double kAsBefore = 0.02;  // of a distance

  // Steps are numbered from 0 or from 1. Where a rise began is known the less exactly the smaller
  // it is among the iterations' own differences.
  static bool is_round(const Pace& pace) {
    const double clear = std::log(std::max(pace.rise, 1.0)) / std::max(pace.sigma, 1e-3);
    const std::int64_t off = clear >= kExact ? 1 : clear >= kNearly ? 2 : 3;
    return pace.rise_step > 1 && (pace.rise_step + off) % kRound <= 2 * off;
  }
  bool comes_again(std::int64_t distance) const {
    const auto before = static_cast<double>(distance_);
    return distance_ > 0 &&
           std::fabs(static_cast<double>(distance) - before) <= 2 + kAsBefore * before;
  }

  std::int64_t latest_ = kNoStep;  // the step of the last rise
  std::int64_t distance_ = 0;      // between the last two, steps
  bool alone_ = false;
};

}  // namespace trainwatch::throughput_regression

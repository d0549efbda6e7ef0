// SPDX-License-Identifier: Apache-2.0
// Since when time has been lost steadily, and how much since then.
#pragma once

#include <algorithm>

#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Page's cumulative sum of what is lost beyond a level: it began where the sum was last zero. The
// sum is capped, so that what came before kForgets steps without a loss is none of it. O(1).
class LossSince {
 public:
  // A step: from where the one before it ended, how long it took, and how much of that is lost.
  // `level`: the share of the time from which it counts. `usual`: length of a step, not negative.
  // `known`: the beginning has been reported and stays as it is.
  void add(Time begin, double seconds, double lost, double level, double usual, bool known) {
    if (!known && beyond_ <= 0) {
      since_ = begin;
      lost_ = 0;
    }
    lost_ += lost;
    beyond_ = std::clamp(beyond_ + lost - level * seconds, 0.0, kForgets * level * usual);
  }

  Time since() const { return since_; }
  double lost() const { return lost_; }  // seconds

  void state(StateIo& io) {
    io(since_);
    io(lost_);
    io(beyond_);
    if (!is_possible(since_) || !(lost_ >= 0) || !(beyond_ >= 0)) io.fail();
  }

 private:
  static constexpr double kForgets = 20;

  Time since_ = kNoTime;
  double lost_ = 0;
  double beyond_ = 0;  // seconds
};

}  // namespace trainwatch

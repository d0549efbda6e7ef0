// SPDX-License-Identifier: Apache-2.0
// How much of the time the slow records of a log cost, recently and before that. Slow records that
// have become frequent are no longer unusual one by one, but they add up. More than a few in a row
// are not counted: they are a change of the level.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainwatch/event.h"
#include "trainwatch/pace.h"
#include "trainwatch/state_io.h"

namespace trainwatch::step_spike {

class SlowShare {
 public:
  // A record of the log, with its pace.
  void add(const Step& step) {
    const double usual = step.pace.usual;
    const double seconds = to_seconds(step.iteration());
    const double noise = 1 + std::max(kLeast, kSigmas * step.pace.sigma);
    const bool slow = seconds > noise * usual;
    in_a_row_ = slow ? in_a_row_ + 1 : 0;
    const bool counts = slow && in_a_row_ <= kMostInARow && step.pace.reference == 0;
    // A pause is judged by itself.
    const double most = kMost * usual;
    const double lost = counts ? std::min(seconds - usual, most) * step.steps : 0;
    const double time = std::min(seconds, usual + most) * step.steps;
    lately_.add(lost, time, 1.0 / kLately);
    if (!open_) before_.add(lost, time, 1.0 / kBefore);
    known_ = std::min<std::uint32_t>(known_ + 1, kBefore);
    if (share() < kSeldom && !open_) {
      since_ = step.end();
      since_step_ = step.number;
      lost_ = 0;
      records_ = 0;
    }
    lost_ += lost;
    if (lost > 0) ++records_;
    if (open_) {
      open_ = share() >= kCloses;
    } else {
      open_ = known_ >= kKnown && records_ >= kFewest && share() >= kOpens &&
              share() >= kTimes * before_.share() + kMore;
    }
  }
  // Whether they cost far more than before.
  bool is_open() const { return open_; }
  double share() const { return lately_.share(); }
  Time since() const { return since_; }
  std::int64_t since_step() const { return since_step_; }
  double lost() const { return lost_; }               // seconds since then
  std::uint32_t records() const { return records_; }  // that were slow since then

  void state(StateIo& io) {
    io(lately_);
    io(before_);
    io(known_);
    io(in_a_row_);
    io(since_);
    io(since_step_);
    io(lost_);
    io(records_);
    io(open_);
    if (!is_possible(since_) || !(lost_ >= 0)) io.fail();
  }

 private:
  static constexpr double kLeast = 0.1;  // longer than usual
  static constexpr double kSigmas = 4;
  static constexpr std::uint32_t kMostInARow = 3;
  static constexpr double kMost = 8;  // times the usual time
  static constexpr double kLately = 50;
  static constexpr std::uint32_t kBefore = 300;
  static constexpr std::uint32_t kKnown = 60;
  static constexpr std::uint32_t kFewest = 5;
  static constexpr double kSeldom = 0.02;
  static constexpr double kOpens = 0.08;
  static constexpr double kCloses = 0.04;
  static constexpr double kTimes = 2.5;
  static constexpr double kMore = 0.03;

  struct Mean {
    double lost = 0;
    double time = 0;
    void add(double lost_now, double time_now, double weight) {
      lost += weight * (lost_now - lost);
      time += weight * (time_now - time);
    }
    double share() const { return time > 0 ? lost / time : 0; }
    void state(StateIo& io) {
      io(lost);
      io(time);
      if (!(lost >= 0) || !(time >= 0)) io.fail();
    }
  };

  Mean lately_;
  Mean before_;
  std::uint32_t known_ = 0;
  std::uint32_t in_a_row_ = 0;
  Time since_{};
  std::int64_t since_step_ = kNoStep;
  double lost_ = 0;
  std::uint32_t records_ = 0;
  bool open_ = false;
};

}  // namespace trainwatch::step_spike

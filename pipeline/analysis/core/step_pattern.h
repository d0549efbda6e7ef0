// SPDX-License-Identifier: Apache-2.0
// Kinds of steps that alternate from the beginning of an attempt: with accumulated gradients, every
// 20th step runs the optimizer; in RLHF, every 4th step follows a rollout. Each kind has its own
// level.
//
// The first kSearched iterations show whether step times repeat with some period. A rhythm that
// begins later is a change, not a property of the job. All times are logarithms; the level of a
// kind is relative to the mean time of a period.
//
// O(1) per iteration, and about kSearched * kLongest once or twice in an attempt. Allocates in the
// first kSearched iterations only; of a job whose steps are of one kind, nothing is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch::pace {

class StepPattern {
 public:
  static constexpr std::int64_t kSearched = 128;  // iterations
  static constexpr std::int64_t kLongest = 60;    // period

  // The next iteration of the attempt; true if the pattern has changed with it.
  bool add(double value, const Step& step);

  std::int64_t period() const { return period_; }  // 0: all steps are of one kind
  // The level of the kind of the iteration `age` iterations ago; -1: of the next one.
  double level(std::int64_t age) const;
  // The highest level of a kind.
  double highest() const;
  // As it was added, of the last kSearched iterations. Only while there is a period.
  double value(std::int64_t place) const {
    return static_cast<double>(values_[static_cast<std::size_t>(place % kSearched)]);
  }
  std::int64_t added() const { return added_; }

  void state(StateIo& io);

 private:
  struct Fit {
    double rest = 0;  // the share of the squared distances from the median that the kinds leave
    std::vector<float> levels;
  };
  void search(std::int64_t fewest_periods);
  Fit fit(std::int64_t period) const;
  bool is_of_the_job(std::int64_t period, const Fit& fit) const;
  bool is_held_up(std::int64_t period, std::int64_t slowest) const;
  bool realign();
  double misfit_of(std::int64_t shift) const;
  double level_at(std::int64_t place) const {
    return static_cast<double>(levels_[static_cast<std::size_t>((place + period_) % period_)]);
  }

  std::vector<float> values_;  // a ring of kSearched
  // Seconds, until the search is over: outside the step, as far as is known, and waiting for data.
  std::vector<float> outside_;
  std::vector<float> waits_;
  std::int64_t added_ = 0;
  std::int64_t period_ = 0;
  std::int64_t shift_ = 0;          // of the places against the count
  std::int64_t tried_ = 0;          // when realign() was last called
  bool holds_computation_ = false;  // its steps hold all of the computation
  double base_ = 0;                 // the level of the period
  std::vector<float> levels_;       // `period_` of them
};

}  // namespace trainwatch::pace

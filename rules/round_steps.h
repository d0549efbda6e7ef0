// SPDX-License-Identifier: Apache-2.0
// Round numbers of steps, after which training loops write checkpoints and evaluate.
#pragma once

#include <cstdint>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class RoundSteps {
 public:
  // Call for each training step, `opens_attempt` as it says.
  void add(const Step& step) {
    if (step.opens_attempt) done_ = 0;
    if (numbers_ == kNoStep && step.opens_attempt) numbers_ = step.number == 0 ? 1 : 0;
    ++done_;
    number_ = step.number == kNoStep ? kNoStep : step.number + numbers_;
  }

  // Whether the steps up to now are a round number, over the whole training or since its last
  // start.
  bool is_round() const { return is_multiple(number_) || is_multiple(done_); }
  static bool is_multiple(std::int64_t number) { return number > 0 && number % kRound == 0; }
  // Of the attempt.
  std::int64_t done() const { return done_; }

  void state(StateIo& io) {
    io(numbers_);
    io(number_);
    io(done_);
    if (done_ < 0 || numbers_ < kNoStep || numbers_ > 1) io.fail();
  }

 private:
  static constexpr std::int64_t kRound = 50;

  std::int64_t numbers_ = kNoStep;  // 1: they begin with 0
  std::int64_t number_ = kNoStep;   // steps that are done, by their numbers
  std::int64_t done_ = 0;
};

}  // namespace trainwatch

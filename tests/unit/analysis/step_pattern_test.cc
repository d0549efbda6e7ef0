// SPDX-License-Identifier: Apache-2.0
// Kinds of steps that come in turns.
#include "pipeline/analysis/core/step_pattern.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainwatch::step_pattern_test {

using pace::StepPattern;

// Iterations of a second, with some noise; `of(i)`: what step i takes longer, and where.
struct Extra {
  double seconds = 0;
  double outside = 0;  // of these
  double wait = 0;     // of these
};
template <class Of>
StepPattern learned(int count, Of&& of) {
  StepPattern pattern;
  for (int i = 0; i < count; ++i) {
    const Extra extra = of(i);
    const double seconds = 1 + 0.02 * std::sin(i * 1.7) + extra.seconds;
    Step step;
    step.begin = Time{} + std::chrono::hours(i);
    step.start = step.begin + from_seconds(extra.outside);
    step.duration = from_seconds(seconds - extra.outside);
    step.data_wait = from_seconds(0.01 + extra.wait);
    pattern.add(std::log(seconds), step);
  }
  return pattern;
}

TEST(StepPattern, FindsPeriodsOfAnyLength) {
  for (const int period : {2, 3, 10, 12, 20, 24, 48}) {
    const StepPattern pattern =
        learned(130, [=](int i) { return Extra{i % period == 1 ? 3.0 : 0.0}; });
    EXPECT_EQ(pattern.period(), period);
    EXPECT_NEAR(std::exp(pattern.highest()), 4 / (1 + 3.0 / period), 0.2) << period;
  }
}

TEST(StepPattern, WhatBeginsLaterIsNotOfTheJob) {
  const StepPattern pattern =
      learned(130, [](int i) { return Extra{i >= 70 && i % 5 == 0 ? 3.0 : 0.0}; });
  EXPECT_EQ(pattern.period(), 0);
}

TEST(StepPattern, ACheckpointIsNoKindOfStep) {
  const auto saves = [](int i) { return Extra{i % 20 == 0 ? 3.0 : 0.0, i % 20 == 0 ? 3.0 : 0.0}; };
  EXPECT_EQ(learned(130, saves).period(), 0);
  const auto rolls_out = [](int i) {
    return Extra{i % 4 == 0 ? 3.0 : 0.0, i % 4 == 0 ? 3.0 : 0.0};
  };
  EXPECT_EQ(learned(130, rolls_out).period(), 4) << "too often for a checkpoint";
}

TEST(StepPattern, AStepThatIsHeldUpIsNoKind) {
  const auto held_up = [](int i) {
    return Extra{i % 20 == 0 ? 3.0 : 0.0, 0, i % 20 == 0 ? 0.5 : 0.0};
  };
  EXPECT_EQ(learned(130, held_up).period(), 0);
}

TEST(StepPattern, FollowsAShift) {
  StepPattern pattern = learned(130, [](int i) { return Extra{i % 10 == 0 ? 3.0 : 0.0}; });
  for (int i = 0; i < 60; ++i) {  // an epoch has ended in between
    pattern.add(std::log(i % 10 == 3 ? 4.0 : 1.0), Step{});
  }
  EXPECT_EQ(pattern.period(), 10);
  // The last one was at place 9, so that the slow one came 6 steps before it.
  EXPECT_EQ(pattern.level(6), pattern.highest());
}

}  // namespace trainwatch::step_pattern_test

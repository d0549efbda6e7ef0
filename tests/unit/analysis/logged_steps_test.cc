// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/logged_steps.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace trainwatch::logged_steps_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kBegin{std::chrono::hours(24 * 365 * 50)};

class LoggedStepsTest : public testing::Test {
 protected:
  Scalar scalar(std::string_view tag, ScalarKind kind, std::int64_t step, double value) {
    Scalar made;
    made.at = now_;
    made.timed = timed_;
    made.step = step;
    made.value = value;
    made.kind = kind;
    made.tag = interner_.symbols.intern(tag);
    made.subject = *interner_.subjects.intern({"job", "", kNoRank, ""});
    return made;
  }
  std::optional<Step> duration(std::int64_t step, double value) {
    return steps_.on(scalar("time", ScalarKind::step_seconds, step, value));
  }
  std::optional<Step> loss(std::int64_t step) {
    return steps_.on(scalar("loss", ScalarKind::loss, step, 2));
  }

  Interner interner_;
  LoggedSteps steps_{interner_};
  Time now_ = kBegin;
  bool timed_ = true;
};

TEST_F(LoggedStepsTest, ARecordIsTheMeanOfItsInterval) {
  const auto first = duration(10, 0.5);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->opens_attempt);
  EXPECT_EQ(first->steps, 1U);  // how many it is the mean of is not known
  now_ += seconds(5);
  const auto second = duration(20, 0.5);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->number, 20);
  EXPECT_EQ(second->steps, 10U);
  EXPECT_EQ(second->end(), now_);
  EXPECT_EQ(second->iteration(), Nanos(milliseconds(500)));
  EXPECT_EQ(second->origin, Origin::log);
  EXPECT_FALSE(second->opens_attempt);
}

TEST_F(LoggedStepsTest, AWaitInTheSameRecordIsOfTheStep) {
  Scalar time = scalar("time", ScalarKind::step_seconds, 10, 0.5);
  time.ends_record = false;
  EXPECT_FALSE(steps_.on(time));
  const auto step = steps_.on(scalar("data_time", ScalarKind::data_seconds, 10, 0.2));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->data_wait, Nanos(milliseconds(200)));
}

TEST_F(LoggedStepsTest, AWaitInARecordOfItsOwnCompletesTheStep) {
  const auto step = duration(10, 0.5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->data_wait, Nanos{});
  EXPECT_FALSE(steps_.on(scalar("data_time", ScalarKind::data_seconds, 10, 0.2)));
  EXPECT_TRUE(steps_.completed().empty());
  (void)duration(20, 0.5);
  ASSERT_EQ(steps_.completed().size(), 1U);
  EXPECT_EQ(steps_.completed()[0].number, 10);
  EXPECT_EQ(steps_.completed()[0].data_wait, Nanos(milliseconds(200)));
}

TEST_F(LoggedStepsTest, AWaitIsNeverLongerThanItsIteration) {
  (void)duration(10, 0.5);
  (void)steps_.on(scalar("data_time", ScalarKind::data_seconds, 10, 9));
  steps_.finish();
  ASSERT_EQ(steps_.completed().size(), 1U);
  EXPECT_EQ(steps_.completed()[0].data_wait, Nanos(milliseconds(500)));
}

TEST_F(LoggedStepsTest, ARateIsADuration) {
  const auto step = steps_.on(scalar("rate", ScalarKind::steps_per_second, 10, 4));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->iteration(), Nanos(milliseconds(250)));
}

TEST_F(LoggedStepsTest, WithoutDurationsTheTimesOfALossCount) {
  EXPECT_FALSE(loss(10));
  now_ += seconds(20);
  const auto step = loss(20);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->iteration(), Nanos(seconds(2)));
}

// Hugging Face's Trainer logs a loss every few steps and nothing before the first.
TEST_F(LoggedStepsTest, TheFirstIntervalBetweenTimesCountsWithAllItsSteps) {
  (void)loss(4);
  now_ += seconds(2);
  const auto first = loss(8);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->opens_attempt);
  EXPECT_EQ(first->steps, 4U);
  EXPECT_EQ(first->iteration(), Nanos(milliseconds(500)));
  now_ += seconds(2);
  const auto second = loss(12);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->opens_attempt);
  EXPECT_EQ(second->steps, 4U);
}

TEST_F(LoggedStepsTest, OnlyOneTagIsTheClock) {
  (void)loss(10);
  now_ += seconds(20);
  (void)steps_.on(scalar("other loss", ScalarKind::loss, 500, 2));  // counts something else
  const auto step = loss(20);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->number, 20);
  EXPECT_EQ(step->attempt, 1U);
}

TEST_F(LoggedStepsTest, ADurationTakesOverFromTimes) {
  (void)loss(10);
  now_ += seconds(20);
  ASSERT_TRUE(loss(20));
  const auto step = duration(30, 0.5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->iteration(), Nanos(milliseconds(500)));
  now_ += seconds(20);
  EXPECT_FALSE(loss(40));
}

TEST_F(LoggedStepsTest, EpochsAreNoSteps) {
  for (int epoch = 0; epoch < 5; ++epoch, now_ += seconds(60)) {
    EXPECT_FALSE(steps_.on(scalar("epoch_loss", ScalarKind::loss, epoch, 2)));
  }
}

TEST_F(LoggedStepsTest, LossesWithoutTimesGiveNoSteps) {
  timed_ = false;
  (void)loss(10);
  now_ += seconds(20);
  EXPECT_FALSE(loss(20));
}

TEST_F(LoggedStepsTest, WithoutTimesAStepEndsNoEarlierThanItsIterationsTake) {
  timed_ = false;
  (void)duration(10, 0.5);
  const auto second = duration(20, 0.5);  // the file was read at once
  ASSERT_TRUE(second);
  EXPECT_EQ(second->end(), kBegin + seconds(5));
  now_ += seconds(60);
  const auto third = duration(30, 0.5);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->end(), now_);
}

TEST_F(LoggedStepsTest, AStepThatGoesBackBeginsAnAttempt) {
  (void)duration(10, 0.5);
  (void)duration(20, 0.5);
  const auto again = duration(10, 0.5);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attempt, 2U);
  EXPECT_TRUE(again->restarts);
  EXPECT_TRUE(again->opens_attempt);
  const auto next = duration(20, 0.5);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->restarts);
  EXPECT_EQ(next->attempt, 2U);
}

TEST_F(LoggedStepsTest, TheSameStepTwiceCountsOnce) {
  ASSERT_TRUE(duration(10, 0.5));
  EXPECT_FALSE(duration(10, 0.5));
}

TEST_F(LoggedStepsTest, WhatIsNoDurationGivesNoStep) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::int64_t step = 0;
  for (const double value : {0.0, -1.0, kInfinity, -kInfinity, kNan, 1e300}) {
    EXPECT_FALSE(duration(++step, value)) << value;
    EXPECT_FALSE(steps_.on(scalar("data_time", ScalarKind::data_seconds, step, value)));
  }
  EXPECT_FALSE(duration(kNoStep, 0.5));
}

TEST_F(LoggedStepsTest, TimesStayWithinTheirRange) {
  timed_ = false;
  now_ = Time{};  // not known
  std::int64_t number = 0;
  for (int i = 0; i < 1000; ++i) {
    number += std::int64_t{1} << 40U;
    const auto step = duration(number, i % 2 == 0 ? 1e8 : 0.5);
    ASSERT_TRUE(step);
    EXPECT_GE(step->begin, Time{});
    EXPECT_GE(step->end() - step->iteration() * step->steps, Time{});
    EXPECT_LT(step->end(), Time{} + std::chrono::hours(24 * 365 * 10));
  }
}

TEST_F(LoggedStepsTest, TheLastStepIsKnownWhereTheJobSaysHowManyThereAre) {
  const auto before = duration(10, 0.5);
  ASSERT_TRUE(before);
  EXPECT_FALSE(steps_.is_last(*before));
  (void)steps_.on(scalar("total", ScalarKind::total_steps, 10, 20));
  const auto last = duration(20, 0.5);
  ASSERT_TRUE(last);
  EXPECT_TRUE(steps_.is_last(*last));
}

}  // namespace
}  // namespace trainwatch::logged_steps_test

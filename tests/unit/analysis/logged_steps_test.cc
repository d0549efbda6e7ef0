// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/logged_steps.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/saved_state.h"

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
    made.lane = file_;
    made.of_epoch = of_epoch_;
    return made;
  }
  std::optional<Step> duration(std::int64_t step, double value) {
    return steps_.on(scalar("time", ScalarKind::step_seconds, step, value));
  }
  SubjectId rank() { return *interner_.subjects.intern({"job", "", kNoRank, ""}); }
  std::optional<Step> loss(std::int64_t step) {
    return steps_.on(scalar("loss", ScalarKind::loss, step, 2));
  }

  Interner interner_;
  LoggedSteps steps_{interner_};
  Time now_ = kBegin;
  bool timed_ = true;
  LaneId file_{};
  bool of_epoch_ = false;
};

TEST_F(LoggedStepsTest, AStepOfAnotherSizeIsKnownAsOne) {
  for (int step = 1; step <= 40; ++step, now_ += milliseconds(500)) {
    Scalar size = scalar("batch_size", ScalarKind::step_size, step, step < 31 ? 64 : 128);
    size.ends_record = false;
    (void)steps_.on(size);
    const auto made = duration(step, 0.5);
    ASSERT_TRUE(made) << step;
    EXPECT_EQ(made->resized, step == 31 || step == 32) << step << ": the third confirms a stage";
  }
}

TEST_F(LoggedStepsTest, ALaunchBeginsAnAttemptWhoseNumbersGoOn) {
  for (int step = 1; step <= 50; ++step, now_ += milliseconds(500)) (void)duration(step, 0.5);
  steps_.launched(rank());
  now_ += seconds(600);
  const auto first = duration(51, 20);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->opens_attempt);
  EXPECT_TRUE(first->restarts);
  EXPECT_EQ(first->attempt, 2U);
  now_ += milliseconds(500);
  const auto second = duration(52, 0.5);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->opens_attempt);
}

// Files that were written beside each other are read one after the other.
TEST_F(LoggedStepsTest, ASecondLogOfTheSameLoopGivesNoSteps) {
  for (int step = 10; step <= 100; step += 10, now_ += seconds(5)) (void)loss(step);
  file_ = LaneId{1};
  now_ = kBegin;
  for (int step = 1; step <= 100; ++step, now_ += milliseconds(500)) {
    EXPECT_FALSE(duration(step, 0.5));
  }
}

TEST_F(LoggedStepsTest, ABetterLogOfTheSameLoopTakesOverForLaterSteps) {
  (void)loss(10);
  now_ += seconds(5);
  ASSERT_TRUE(loss(20));
  file_ = LaneId{1};
  EXPECT_FALSE(duration(20, 0.5));
  now_ += milliseconds(500);
  const auto step = duration(21, 0.5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->attempt, 1U);
  file_ = LaneId{0};
  now_ += seconds(1);
  EXPECT_FALSE(loss(30));
}

TEST_F(LoggedStepsTest, TheLogOfTheNextAttemptTakesOverFromASilentOne) {
  (void)loss(10);
  now_ += seconds(5);
  ASSERT_TRUE(loss(20));
  file_ = LaneId{1};
  now_ += seconds(60);
  (void)loss(10);
  now_ += seconds(5);
  const auto step = loss(20);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->attempt, 2U);
}

TEST_F(LoggedStepsTest, StepsBehindAWeakLogHaveTheTimeThatTheyTook) {
  timed_ = false;
  for (int step = 1; step <= 10; ++step) (void)loss(step);
  EXPECT_EQ(steps_.read_to_end(rank()).size(), 10U);
  file_ = LaneId{1};
  for (int step = 1; step <= 10; ++step) (void)duration(step, 0.5);
  const std::vector<Step> steps = steps_.read_to_end(rank());
  ASSERT_EQ(steps.size(), 10U);
  EXPECT_EQ(steps.back().end() - steps.front().end(), Nanos(milliseconds(4500)));
}

TEST_F(LoggedStepsTest, AClockThatComesNoMoreIsNone) {
  const auto rate = [this](int step) {
    return steps_.on(scalar("lr", ScalarKind::learning_rate, step, 0.1));
  };
  std::optional<Step> last;
  for (int step = 1; step <= 10; ++step, now_ += seconds(5)) last = loss(step);
  ASSERT_TRUE(last);
  for (int step = 11; step <= 20; ++step, now_ += seconds(5)) last = rate(step);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->number, 20);
  EXPECT_EQ(last->iteration(), Nanos(seconds(5)));
}

TEST_F(LoggedStepsTest, TwoRanksInOneTextAreOne) {
  std::optional<Step> last;
  for (int step = 1; step <= 10; ++step) {
    last = loss(step);
    now_ += seconds(1);
    (void)loss(step);
  }
  ASSERT_TRUE(last);
  EXPECT_EQ(last->number, 10);
  EXPECT_EQ(last->iteration(), Nanos(seconds(1)));
}

TEST_F(LoggedStepsTest, ATableOfEpochsIsTheClockOnlyUntilStepsCome) {
  of_epoch_ = true;
  ASSERT_TRUE(duration(1, 60));
  const auto epoch = duration(2, 60);
  ASSERT_TRUE(epoch);
  EXPECT_TRUE(epoch->weak);
  of_epoch_ = false;
  file_ = LaneId{1};
  now_ = kBegin;
  const auto step = duration(1, 0.5);
  ASSERT_TRUE(step);
  EXPECT_FALSE(step->weak);
  EXPECT_TRUE(step->opens_attempt);
  of_epoch_ = true;
  file_ = LaneId{0};
  now_ += seconds(600);
  EXPECT_FALSE(duration(3, 60));
}

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

// L9: what is read at once ends when the file was written to, and reaches back.
TEST_F(LoggedStepsTest, L9WithoutTimesWhatIsReadAtOnceReachesBack) {
  timed_ = false;
  for (int step = 10; step <= 30; step += 10) EXPECT_FALSE(duration(step, 0.5));
  const std::vector<Step> history = steps_.read_to_end(rank());
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history[2].end(), kBegin);
  EXPECT_EQ(history[1].end(), kBegin - seconds(5));
  EXPECT_EQ(history[0].end(), kBegin - seconds(10));
  EXPECT_TRUE(history[0].opens_attempt);
  EXPECT_TRUE(steps_.read_to_end(rank()).empty());
}

TEST_F(LoggedStepsTest, L9WithoutTimesWhatComesLiveHasTheTimeOfItsComing) {
  timed_ = false;
  EXPECT_FALSE(duration(10, 0.5));
  EXPECT_EQ(steps_.read_to_end(rank()).size(), 1U);
  now_ += seconds(60);
  EXPECT_FALSE(duration(20, 0.5));
  const std::vector<Step> live = steps_.read_to_end(rank());
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0].end(), now_);
}

// What was written in three seconds, as the log has it, came within one.
TEST_F(LoggedStepsTest, L9NoHeldStepEndsBeforeThoseThatCameEarlier) {
  timed_ = false;
  (void)duration(1, 0.5);
  (void)steps_.read_to_end(rank());
  now_ += seconds(1);
  for (int step = 2; step <= 7; ++step) (void)duration(step, 0.5);
  const std::vector<Step> next = steps_.read_to_end(rank());
  ASSERT_EQ(next.size(), 6U);
  EXPECT_EQ(next[0].end(), kBegin);
  EXPECT_EQ(next[4].end(), kBegin + milliseconds(500));
  EXPECT_EQ(next[5].end(), now_);
}

// The file grows while it is read: only its last time counts.
TEST_F(LoggedStepsTest, L9AHistoryInPartsIsOne) {
  timed_ = false;
  for (int step = 1; step <= 4; ++step, now_ += milliseconds(1)) (void)duration(step, 10);
  const std::vector<Step> history = steps_.read_to_end(rank());
  ASSERT_EQ(history.size(), 4U);
  EXPECT_EQ(history[0].end(), kBegin + milliseconds(3) - seconds(30));
}

TEST_F(LoggedStepsTest, L9AWaitIsOfTheHeldStep) {
  timed_ = false;
  (void)duration(10, 0.5);
  (void)steps_.on(scalar("data_time", ScalarKind::data_seconds, 10, 0.2));
  (void)duration(20, 0.5);
  const std::vector<Step> history = steps_.read_to_end(rank());
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].data_wait, Nanos(milliseconds(200)));
  EXPECT_EQ(history[1].data_wait, Nanos{});
  (void)steps_.on(scalar("data_time", ScalarKind::data_seconds, 20, 0.1));
  steps_.finish();
  ASSERT_EQ(steps_.completed().size(), 1U);
  EXPECT_EQ(steps_.completed()[0].data_wait, Nanos(milliseconds(100)));
}

TEST_F(LoggedStepsTest, L9ALongHistoryBecomesFewerRecordsOfTheSameSteps) {
  timed_ = false;
  constexpr auto kRecords = static_cast<std::int64_t>(LoggedSteps::kMostHeld) * 3;
  for (std::int64_t step = 1; step <= kRecords; ++step) (void)duration(step, 0.5);
  const std::vector<Step> history = steps_.read_to_end(rank());
  EXPECT_LE(history.size(), LoggedSteps::kMostHeld);
  std::int64_t steps = 0;
  for (const Step& step : history) steps += step.steps;
  EXPECT_EQ(steps, kRecords);
  EXPECT_EQ(history.back().end(), kBegin);
  EXPECT_EQ(history.front().end() - history.front().duration * history.front().steps,
            kBegin - kRecords * milliseconds(500));
}

TEST_F(LoggedStepsTest, L9HeldStepsAreSaved) {
  timed_ = false;
  (void)duration(10, 0.5);
  const StoredRows rows = test::put_rows(steps_);
  SameIds ids(interner_);
  LoggedSteps resumed(interner_);
  ASSERT_TRUE(resumed.load({rows, &ids}));
  (void)resumed.on(scalar("time", ScalarKind::step_seconds, 20, 0.5));
  const std::vector<Step> history = resumed.read_to_end(rank());
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].end(), kBegin - seconds(5));
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

TEST_F(LoggedStepsTest, NumbersOfTheNextEpochBeginNone) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t number = 10; number <= 50; number += 10) {
      now_ += seconds(5);
      const auto step = duration(number, 0.5);
      ASSERT_TRUE(step);
      EXPECT_EQ(step->attempt, 1U);
      EXPECT_EQ(step->opens_epoch, epoch > 0 && number == 10);
      EXPECT_EQ(step->opens_attempt, epoch == 0 && number == 10);
      EXPECT_FALSE(step->restarts);
      EXPECT_EQ(step->steps, epoch == 0 && number == 10 ? 1U : 10U);
    }
    now_ += seconds(10);  // an evaluation
  }
  // After a silence they are those of the same training, started again.
  now_ += seconds(60);
  EXPECT_EQ(duration(10, 0.5)->attempt, 2U);
}

TEST_F(LoggedStepsTest, NumbersThatGoBackElsewhereAreOfNoEpoch) {
  for (std::int64_t number = 10; number <= 50; number += 10) {
    now_ += seconds(5);
    duration(number, 0.5);
  }
  now_ += seconds(5);
  EXPECT_EQ(duration(30, 0.5)->attempt, 2U) << "from a checkpoint";
  timed_ = false;  // how long it was silent is not known
  EXPECT_FALSE(duration(10, 0.5));
  const std::vector<Step> held = steps_.read_to_end(rank());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].attempt, 3U);
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
    (void)duration(number, i % 2 == 0 ? 1e8 : 0.5);
  }
  for (const Step& step : steps_.read_to_end(rank())) {
    EXPECT_GE(step.begin, Time{});
    EXPECT_GE(step.end() - step.iteration() * step.steps, Time{});
    EXPECT_LT(step.end(), Time{} + std::chrono::hours(24 * 365 * 10));
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

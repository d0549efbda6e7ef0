// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/lost_time.h"

#include <gtest/gtest.h>

#include <random>
#include <span>

#include "pipeline/analysis/core/iteration_tracker.h"
#include "pipeline/cycle/cycle_summary.h"
#include "pipeline/cycle/step_selection.h"
#include "support/saved_state.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::lost_time_test {

using std::chrono::milliseconds;

class LostTimeTest : public testing::Test {
 protected:
  void span(SpanKind kind, std::int64_t start_ms, std::int64_t lasts_ms) {
    Span made;
    made.kind = kind;
    made.subject = rank_;
    made.start = Time{milliseconds(start_ms)};
    made.duration = milliseconds(lasts_ms);
    made.mode = Mode::train;
    made.step = number_;
    if (kind == SpanKind::step) ++number_;
    spans_.on(made);
    tracker_.on(made);
    for (const Step& step : tracker_.completed()) account_.on(step);
  }
  // Waits for 10 ms, trains for 90.
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      span(SpanKind::data_wait, now_ms_, 10);
      span(SpanKind::step, now_ms_ + 10, 90);
      now_ms_ += 100;
    }
  }
  LostTime::Account settled() {
    tracker_.finish();
    for (const Step& step : tracker_.completed()) account_.on(step);
    account_.settle(Time{milliseconds(now_ms_)}, true);
    return known();
  }
  LostTime::Account known() { return account_.account(rank_, {}).value(); }
  // With what is outstanding.
  LostTime::Account expected() {
    LostTime::Outstanding outstanding = account_.outstanding();
    tracker_.each_without_waits(
        [&](std::span<const Step> steps) { account_.add(steps, outstanding); });
    return account_.account(rank_, outstanding).value_or(LostTime::Account());
  }

  Interner interner_;
  SubjectId rank_ = interner_.subjects.intern({"", "a", 0, ""}).value();
  SystemHistory system_{interner_};
  SpanHistory spans_;
  Attribution attribution_{system_, spans_};
  IterationTracker tracker_;
  LostTime account_{interner_, attribution_};
  std::int64_t now_ms_ = 1'000'000;
  std::int64_t number_ = 1;
};

TEST_F(LostTimeTest, AWaitForInputIsLost) {
  steps(200);
  const auto account = settled();
  EXPECT_NEAR(account.of(CauseName::input_wait), 2.0, 0.02);
  EXPECT_NEAR(account.total(), account.of(CauseName::input_wait), 1e-9);
  EXPECT_NEAR(account.elapsed, 20.0, 0.1);
}

TEST_F(LostTimeTest, APauseBeyondTheUsualIsLostToWhatItWas) {
  steps(100);
  span(SpanKind::garbage_collection, now_ms_, 3000);
  now_ms_ += 3000;
  steps(100);
  const auto account = settled();
  EXPECT_NEAR(account.of(CauseName::host_pause), 3.0, 0.05);
  EXPECT_NEAR(account.of(CauseName::input_wait), 2.0, 0.05);
}

TEST_F(LostTimeTest, WhatNothingExplainsIsUnattributed) {
  steps(100);
  now_ms_ += 2000;
  steps(100);
  EXPECT_NEAR(settled().of(CauseName::unattributed), 2.0, 0.05);
}

TEST_F(LostTimeTest, NoMoreIsLostThanPassed) {
  for (int i = 0; i < 300; ++i) {
    span(SpanKind::data_wait, now_ms_, 500);
    span(SpanKind::data_wait, now_ms_, 400 + i);
    span(SpanKind::step, now_ms_ + i % 7, 30 + (i % 50) * (i % 11));
    now_ms_ += 40 + (i % 50) * (i % 13);
  }
  const auto account = settled();
  EXPECT_LE(account.total(), account.elapsed);
  EXPECT_GT(account.total(), 0);
}

TEST_F(LostTimeTest, ARecordOfALogCountsForAllItsIterations) {
  for (int i = 1; i <= 20; ++i) {
    now_ms_ += 1000;
    Step step;
    step.origin = Origin::log;
    step.mode = Mode::train;
    step.subject = rank_;
    step.number = 10 * i;
    step.steps = 10;
    step.duration = milliseconds(100);
    step.start = step.begin = Time{milliseconds(now_ms_ - 100)};
    step.data_wait = milliseconds(25);
    account_.on(step);
  }
  const auto account = settled();
  EXPECT_NEAR(account.elapsed, 20, 1e-9);
  EXPECT_NEAR(account.of(CauseName::input_wait), 5, 1e-9);
  EXPECT_NEAR(account.total(), 5, 1e-9);
}

TEST_F(LostTimeTest, ARankWithoutATimelineLosesWhatItsCyclesShow) {
  for (const std::int64_t busy_us : {300, 900}) {
    HandMadeCycle builder;
    builder.compute({0, busy_us, 7, builder.launch(-20)});
    builder.communicate({busy_us, 100, 20, builder.launch(-10)});
    builder.compute({1000, 100, 7, builder.launch(900)});
    builder.step(1, -50, 1000);
    builder.of(rank_);
    const CycleTrace cycle = builder.build();
    account_.on(summarize(SelectedCycle(cycle, StepSelection::included)));
  }
  const auto account = settled();
  // Both steps last a millisecond from -50 us on. The last kernel was launched at 900 us; from
  // 920 us on it was ready.
  EXPECT_NEAR(account.of(CauseName::kernel_launch), 620e-6, 1e-9);
  EXPECT_NEAR(account.of(CauseName::unattributed), 30e-6, 1e-9);
  EXPECT_NEAR(account.of(CauseName::communication), 150e-6, 1e-9);
  EXPECT_NEAR(account.total(), 800e-6, 1e-9);
  steps(10);
  EXPECT_NEAR(settled().total(), 0.09, 1e-3) << "the timeline has all of the time";
}

TEST_F(LostTimeTest, WhatARankWithoutWaitsLostIsOutstandingUntilItsStepsAreComplete) {
  std::mt19937 random(18);
  for (int i = 0; i < 1500; ++i) {
    span(SpanKind::step, now_ms_, 100);
    now_ms_ += random() % 50 == 0 ? 400 : 100;
    if (i == 700) now_ms_ += 5000;
    if (i % 150 == 149) account_.settle(Time{milliseconds(now_ms_)}, false);
    const LostTime::Account account = expected();
    ASSERT_NEAR(account.elapsed, static_cast<double>(now_ms_ - 1'000'000) / 1000, 6) << i;
    if (i == 200) {
      EXPECT_FALSE(account_.account(rank_, {}));
      EXPECT_GT(account.total(), 0.2);
    }
  }
  const LostTime::Account last = expected();
  const LostTime::Account all = settled();
  EXPECT_EQ(last.elapsed, all.elapsed);
  EXPECT_NEAR(last.total(), all.total(), 1e-9);
  EXPECT_EQ(expected().total(), all.total()) << "nothing is outstanding any more";
}

TEST_F(LostTimeTest, WhatWaitsToBeExplainedIsOutstanding) {
  steps(50);
  EXPECT_EQ(known().total(), 0);
  EXPECT_NEAR(expected().of(CauseName::input_wait), 0.49, 0.011);
  EXPECT_NEAR(expected().elapsed, 4.9, 0.11);
  now_ms_ += 3000;
  steps(50);
  EXPECT_NEAR(expected().of(CauseName::unattributed), 3, 0.05);
  const LostTime::Account before = expected();
  EXPECT_NEAR(settled().total(), before.total(), 0.011) << "and the last step's wait";
}

TEST_F(LostTimeTest, MetricsSayOfWhatTheLossIsAPart) {
  steps(200);
  const auto account = settled();
  std::vector<MetricFamily> families;
  account_.collect(families);
  ASSERT_EQ(families.size(), 2);
  EXPECT_EQ(families[0].name, "trainwatch_lost_gpu_seconds_total");
  EXPECT_EQ(families[1].name, "trainwatch_training_seconds_total");
  ASSERT_EQ(families[1].points.size(), 1);
  EXPECT_EQ(families[1].points[0].value, account.elapsed);
}

TEST_F(LostTimeTest, StateSurvives) {
  steps(150);
  now_ms_ += 2000;
  steps(20);
  const StoredRows rows = test::put_rows(account_);
  LostTime other(interner_, attribution_);
  ASSERT_TRUE(other.load(rows));
  EXPECT_EQ(test::put_rows(other), rows);
  EXPECT_TRUE(test::put_rows(account_, false).empty()) << "nothing has changed since";
}

}  // namespace trainwatch::lost_time_test

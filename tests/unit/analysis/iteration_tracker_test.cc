// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/iteration_tracker.h"

#include <gtest/gtest.h>

#include "support/engine_state.h"

namespace trainwatch::iteration_tracker_test {

Span span(SpanKind kind, std::int64_t start_ms, std::int64_t duration_ms, std::int64_t step = 1) {
  Span made;
  made.kind = kind;
  made.start = Time{std::chrono::milliseconds(start_ms)};
  made.duration = std::chrono::milliseconds(duration_ms);
  made.step = step;
  made.mode = Mode::train;
  return made;
}

TEST(IterationTracker, AddsTheWaitsInsideAStep) {
  IterationTracker tracker;
  EXPECT_FALSE(tracker.on(span(SpanKind::data_wait, 0, 30)));
  EXPECT_FALSE(tracker.on(span(SpanKind::forward, 30, 40)));
  EXPECT_FALSE(tracker.on(span(SpanKind::data_wait, 90, 30)));
  const auto step = tracker.on(span(SpanKind::step, 0, 100, 7));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->number, 7);
  EXPECT_EQ(step->mode, Mode::train);
  EXPECT_EQ(step->data_wait, std::chrono::milliseconds(40)) << "30 inside, 10 of the second";
}

TEST(IterationTracker, OverlappingWaitsNeverExceedTheStep) {
  IterationTracker tracker;
  for (int i = 0; i < 100; ++i) tracker.on(span(SpanKind::data_wait, 0, 100));
  EXPECT_EQ(tracker.on(span(SpanKind::step, 0, 100))->data_wait, std::chrono::milliseconds(100));
}

TEST(IterationTracker, OriginsAndSubjectsAreSeparate) {
  IterationTracker tracker;
  Span wait = span(SpanKind::data_wait, 0, 50);
  wait.origin = Origin::profiler;
  tracker.on(wait);
  EXPECT_EQ(tracker.on(span(SpanKind::step, 0, 100))->data_wait, Nanos{});
}

TEST(IterationTracker, AStageBeginsForEachRankWhenItsStepsAreThere) {
  IterationTracker tracker;
  const auto steps = [&tracker](int first, int last, std::int64_t each_ms) {
    std::optional<Step> step;
    for (int i = first; i <= last; ++i) {
      step = tracker.on(span(SpanKind::step, (i - 1) * each_ms, each_ms, i));
    }
    return step;
  };
  const Time at{std::chrono::milliseconds(100 * 100)};
  tracker.on({.begins = true}, at, [](SubjectId) { return true; });
  EXPECT_TRUE(steps(1, 100, 100)->pace.warm());
  tracker.on({.begins = true}, at, [](SubjectId) { return true; });
  EXPECT_TRUE(tracker.on(span(SpanKind::step, 9900, 99, 101))->pace.warm()) << "before it";
  EXPECT_FALSE(tracker.on(span(SpanKind::step, 10000, 300, 102))->pace.warm());
}

TEST(IterationTracker, StateSurvives) {
  IterationTracker tracker;
  tracker.on(span(SpanKind::data_wait, 0, 30));
  StateRows changes;
  tracker.save(changes, false);
  StoredRows rows;
  test::store(changes, rows);
  EXPECT_EQ(rows.size(), 1U);
  IterationTracker restored;
  ASSERT_TRUE(restored.load(rows));
  EXPECT_EQ(restored.on(span(SpanKind::step, 0, 100))->data_wait, std::chrono::milliseconds(30));
}

TEST(IterationTracker, AnIterationIsFromTheEndOfOneStepToTheEndOfTheNext) {
  IterationTracker tracker;
  const auto first = tracker.on(span(SpanKind::step, 100, 50, 1));
  EXPECT_TRUE(first->opens_attempt);
  EXPECT_EQ(first->iteration(), std::chrono::milliseconds(50)) << "nothing is known of before";
  tracker.on(span(SpanKind::data_wait, 160, 20));
  const auto second = tracker.on(span(SpanKind::step, 200, 50, 2));
  EXPECT_FALSE(second->opens_attempt);
  EXPECT_EQ(second->iteration(), std::chrono::milliseconds(100));
  EXPECT_EQ(second->data_wait, std::chrono::milliseconds(20)) << "the wait lies before the step";
}

TEST(IterationTracker, EvaluationIsNoPartOfAnIteration) {
  IterationTracker tracker;
  tracker.on(span(SpanKind::step, 0, 100, 1));
  for (int i = 0; i < 5; ++i) {
    Span evaluation = span(SpanKind::step, 200 + 100 * i, 100, i);
    evaluation.mode = Mode::eval;
    tracker.on(evaluation);
  }
  const auto next = tracker.on(span(SpanKind::step, 730, 100, 2));
  EXPECT_EQ(next->evaluation, std::chrono::milliseconds(600)) << "with what led to it";
  EXPECT_EQ(next->iteration(), std::chrono::milliseconds(130));
}

TEST(IterationTracker, AnEvaluationMayBeOneSpan) {
  IterationTracker tracker;
  tracker.on(span(SpanKind::step, 0, 100, 0));
  Span evaluation = span(SpanKind::step, 200, 100, 0);
  evaluation.mode = Mode::eval;
  tracker.on(evaluation);
  tracker.on(span(SpanKind::evaluation, 150, 450));  // its metrics are computed after its steps
  const std::optional<Step> next = tracker.on(span(SpanKind::step, 650, 100, 1));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->evaluation, std::chrono::milliseconds(500));
  EXPECT_EQ(next->iteration(), std::chrono::milliseconds(150));
}

TEST(IterationTracker, ANumberThatGoesBackOrAnotherProcessBeginsAnAttempt) {
  IterationTracker tracker;
  const auto step = [&](std::int64_t at, std::int64_t number, std::int64_t process) {
    Span made = span(SpanKind::step, at, 100, number);
    made.process = process;
    return *tracker.on(made);
  };
  step(0, 1, 10);
  EXPECT_FALSE(step(100, 2, 10).opens_attempt);
  EXPECT_TRUE(step(5000, 1, 10).opens_attempt);
  EXPECT_EQ(step(5100, 2, 10).attempt, 2U);
  EXPECT_TRUE(step(9000, 3, 11).opens_attempt);
  EXPECT_EQ(step(9100, 4, 11).attempt, 3U);
}

TEST(IterationTracker, NumbersThatBeginAnewWithoutAPauseAreThoseOfAnEpoch) {
  IterationTracker tracker;
  for (int i = 0; i < 5; ++i) tracker.on(span(SpanKind::step, 100 * i, 100, i));
  const auto first = tracker.on(span(SpanKind::step, 1500, 100, 0));
  EXPECT_TRUE(first->opens_epoch);
  EXPECT_FALSE(first->opens_attempt);
  EXPECT_EQ(first->iteration(), std::chrono::milliseconds(1100)) << "with what came before";
  const auto second = tracker.on(span(SpanKind::step, 1600, 100, 1));
  EXPECT_FALSE(second->opens_epoch);
  EXPECT_EQ(second->attempt, 1U);
  EXPECT_TRUE(tracker.on(span(SpanKind::step, 9000, 100, 0))->opens_attempt) << "after a pause";
}

TEST(IterationTracker, PhasesBelongToTheStepThatFollowsThem) {
  IterationTracker tracker;
  tracker.on(span(SpanKind::forward, 0, 30));
  tracker.on(span(SpanKind::backward, 30, 50));
  tracker.on(span(SpanKind::optimizer, 80, 10));
  const auto first = tracker.on(span(SpanKind::step, 0, 100, 1));
  EXPECT_EQ(first->forward, std::chrono::milliseconds(30));
  EXPECT_EQ(first->backward, std::chrono::milliseconds(50));
  EXPECT_EQ(first->optimizer, std::chrono::milliseconds(10));
  EXPECT_EQ(tracker.on(span(SpanKind::step, 100, 100, 2))->forward, Nanos{});
}

TEST(IterationTracker, WaitsThatAreReadLaterCompleteTheirSteps) {
  IterationTracker tracker;
  for (int i = 0; i < 3; ++i) tracker.on(span(SpanKind::step, 100 * i, 100, i));
  EXPECT_TRUE(tracker.completed().empty());
  tracker.on(span(SpanKind::data_wait, 110, 30));
  ASSERT_EQ(tracker.completed().size(), 1U) << "of step 0: the wait is later";
  tracker.on(span(SpanKind::data_wait, 310, 30));
  ASSERT_EQ(tracker.completed().size(), 2U);
  EXPECT_EQ(tracker.completed()[0].number, 1);
  EXPECT_EQ(tracker.completed()[0].data_wait, std::chrono::milliseconds(30));
  EXPECT_EQ(tracker.completed()[1].data_wait, Nanos{});
}

// Catalogue case 66: of thousands of ranks without waits, each step waits for one.
TEST(IterationTracker, ManyRanksShareTheRoomForStepsThatWait) {
  IterationTracker tracker;
  constexpr std::uint32_t kRanks = 8192;
  std::size_t completed = 0;
  for (std::int64_t number = 0; number < 40; ++number) {
    for (std::uint32_t rank = 1; rank <= kRanks; ++rank) {
      Span step = span(SpanKind::step, 100 * number, 100, number);
      step.subject = SubjectId{rank};
      tracker.on(step);
      completed += tracker.completed().size();
    }
  }
  EXPECT_EQ(completed, kRanks * (40 - 32));
  IterationTracker few;
  for (std::int64_t number = 0; number < 256; ++number) {
    few.on(span(SpanKind::step, 100 * number, 100, number));
    EXPECT_TRUE(few.completed().empty());
  }
}

TEST(IterationTracker, WithoutWaitsStepsAreCompleteAtOnceAfterMany) {
  IterationTracker tracker;
  std::int64_t number = 0;
  const auto step = [&] {
    tracker.on(span(SpanKind::step, 100 * number, 100, number));
    ++number;
    return tracker.completed().size();
  };
  std::size_t completed = 0;
  while (number < 256 + 1024 - 1) completed += step();
  const auto without_waits = [&tracker] {
    std::size_t steps = 0;
    tracker.each_without_waits([&](std::span<const Step> of_rank) { steps += of_rank.size(); });
    return steps;
  };
  EXPECT_EQ(without_waits(), 256U);
  EXPECT_EQ(completed, 1023U);
  EXPECT_EQ(step(), 257U) << "there are no waits, so none of them waits any longer";
  EXPECT_EQ(step(), 1U);
  EXPECT_EQ(tracker.completed()[0].number, number - 1);
  EXPECT_EQ(without_waits(), 0U);

  tracker.on(span(SpanKind::data_wait, 100 * number - 50, 30));
  EXPECT_EQ(step(), 0U) << "there are waits after all";
  EXPECT_EQ(without_waits(), 0U) << "its wait will come";
}

}  // namespace trainwatch::iteration_tracker_test

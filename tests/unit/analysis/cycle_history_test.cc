// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/cycle_history.h"

#include <gtest/gtest.h>

namespace trainwatch::cycle_history_test {

constexpr SubjectId kRank{3};

StepSummary step(std::int64_t number, std::int64_t duration_ms) {
  StepSummary made;
  made.number = number;
  made.start_ns = number * 1'000'000'000;
  made.duration_ns = duration_ms * 1'000'000;
  return made;
}

void add(StepSummary& to, IdleReason reason, std::int64_t ms) {
  to.idle_ns[static_cast<std::size_t>(reason)] += ms * 1'000'000;
}

CycleSummary cycle_of(std::vector<StepSummary> steps) {
  CycleSummary cycle;
  cycle.subject = kRank;
  cycle.activities = 1;
  cycle.steps = std::move(steps);
  return cycle;
}

Time start_of(std::int64_t number) {
  return time_from_ns(number * 1'000'000'000);
}

TEST(CycleHistory, WhatAStepHadMoreOf) {
  std::vector<StepSummary> steps = {step(1, 100), step(2, 100), step(3, 600), step(4, 100)};
  for (StepSummary& one : steps) add(one, IdleReason::launch, 40);
  add(steps[2], IdleReason::host_pause, 450);
  add(steps[2], IdleReason::launch, 20);
  CycleHistory history;
  history.on(cycle_of(steps));
  const auto cause = history.explain(kRank, start_of(3));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->name, CauseName::host_pause);
  EXPECT_DOUBLE_EQ(cause->coverage, 0.9);
  EXPECT_EQ(cause->explanation,
            "The profiler saw 0.450 s more than usual in which the host did nothing that the "
            "profiler saw and the GPU was idle.");
}

TEST(CycleHistory, OtherRanksWaitInCommunication) {
  std::vector<StepSummary> steps = {step(1, 100), step(2, 600), step(3, 100)};
  steps[1].exposed_communication_ns = 490'000'000;
  CycleHistory history;
  history.on(cycle_of(steps));
  EXPECT_EQ(history.explain(kRank, start_of(2))->name, CauseName::communication);
}

TEST(CycleHistory, NothingToSay) {
  CycleHistory history;
  EXPECT_FALSE(history.explain(kRank, start_of(1)));
  history.on(cycle_of({step(1, 100), step(2, 600)}));
  EXPECT_FALSE(history.explain(kRank, start_of(2)));  // too few steps
  history.on(cycle_of({step(1, 100), step(2, 600), step(3, 100)}));
  EXPECT_FALSE(history.explain(kRank, start_of(1)));  // no longer than usual
  EXPECT_FALSE(history.explain(kRank, start_of(9)));
  EXPECT_FALSE(history.explain(SubjectId{7}, start_of(2)));
}

TEST(CycleHistory, TheLatestCycleIsKept) {
  CycleHistory history;
  history.on(cycle_of({step(1, 100), step(2, 600), step(3, 100)}));
  EXPECT_TRUE(history.take_changed());
  EXPECT_FALSE(history.take_changed());
  StateIo out = StateIo::saving();
  history.state(out);
  const std::string bytes = out.take();
  CycleHistory other;
  StateIo in = StateIo::loading(bytes);
  other.state(in);
  EXPECT_TRUE(in.complete());
  EXPECT_TRUE(other.explain(kRank, start_of(2)));
  other.on(cycle_of({step(11, 100)}));
  EXPECT_FALSE(other.explain(kRank, start_of(2)));
}

}  // namespace trainwatch::cycle_history_test

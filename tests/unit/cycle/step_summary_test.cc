// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "pipeline/cycle/cycle_summary.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::step_summary_test {

constexpr std::int64_t kUs = 1000;

std::vector<StepSummary> steps_of(const CycleTrace& cycle) {
  return summarize(SelectedCycle(cycle, StepSelection::all)).steps;
}

StepSummary only_step(const CycleTrace& cycle) {
  const auto steps = steps_of(cycle);
  EXPECT_EQ(steps.size(), 1U);
  return steps.at(0);
}

std::int64_t parts_sum(const StepSummary& step) {
  return step.computation_ns + step.exposed_memory_ns + step.exposed_communication_ns +
         step.exposed_other_ns + step.idle_sum_ns();
}

TEST(StepSummary, EachMomentCountsOnce) {
  HandMadeCycle builder;
  builder.compute({10, 30, 7, builder.launch(5)});
  builder.copy({30, 30, 8, builder.launch(6)}, 1.0F);   // 20 us beyond the kernel
  builder.communicate({50, 40, 9, builder.launch(7)});  // 30 us beyond the copy
  builder.wait({85, 10, 10, builder.launch(8)});        // 5 us beyond that
  builder.step(4, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.number, 4);
  EXPECT_EQ(step.computation_ns, 30 * kUs);
  EXPECT_EQ(step.communication_ns, 40 * kUs);
  EXPECT_EQ(step.overlapped_ns, 0);
  EXPECT_EQ(step.exposed_memory_ns, 20 * kUs);
  EXPECT_EQ(step.exposed_communication_ns, 30 * kUs);
  EXPECT_EQ(step.exposed_other_ns, 5 * kUs);
  EXPECT_EQ(step.idle_sum_ns(), 15 * kUs);
  EXPECT_EQ(parts_sum(step), 100 * kUs);
}

TEST(StepSummary, IdleByWhatTheHostDid) {
  HandMadeCycle builder;
  builder.compute({20, 10, 7, builder.launch(12)});  // idle from 0 for want of data until 10
  builder.compute({40, 10, 7, builder.launch(25)});  // launched before the gap: queued
  builder.compute({70, 10, 7, builder.launch(65)});  // the gap began in a synchronisation
  builder.compute({95, 5, 7, builder.launch(90)});   // the host paused in it
  builder.step(1, 0, 100);
  CycleTrace cycle = builder.build();
  cycle.data_waits = {{0, 10 * kUs}};
  cycle.blocking_calls = {{45 * kUs, 55 * kUs}};
  cycle.host_pauses = {{82 * kUs, 89 * kUs}};
  const StepSummary step = only_step(cycle);
  EXPECT_EQ(step.idle(IdleReason::data_wait), 10 * kUs);
  EXPECT_EQ(step.idle(IdleReason::queued), 10 * kUs);
  EXPECT_EQ(step.idle(IdleReason::synchronization), 20 * kUs);
  EXPECT_EQ(step.idle(IdleReason::host_pause), 7 * kUs);
  EXPECT_EQ(step.idle(IdleReason::launch), (10 + 8) * kUs);
  EXPECT_EQ(parts_sum(step), 100 * kUs);
}

// The device was one step behind when the recording began: what it still had to do has no launch in
// the file.
TEST(StepSummary, WorkLaunchedBeforeTheRecordingCounts) {
  HandMadeCycle builder;
  builder.compute({0, 95, 7, kNoLaunch});
  builder.compute({96, 94, 7, builder.launch(10)});
  builder.compute({191, 90, 7, builder.launch(110)});
  builder.step(1, 0, 100).step(2, 100, 100);
  const CycleTrace cycle = builder.build();
  const CycleSummary found = summarize(SelectedCycle(cycle, StepSelection::included));
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_EQ(found.steps[0].computation_ns, 99 * kUs);
  EXPECT_EQ(found.steps[0].idle_sum_ns(), 1 * kUs);
  EXPECT_EQ(found.steps[1].computation_ns, 99 * kUs);
  EXPECT_EQ(found.activities, 3U);
  EXPECT_EQ(found.launched_activities, 2U);
  EXPECT_EQ(found.computation_ns, 184 * kUs);  // of what HTA selects
}

// A pageable `.item()`: no call waits for the device by name, but the copy returns only when done.
TEST(StepSummary, ACopyThatReturnsWhenDoneIsASynchronisation) {
  HandMadeCycle builder;
  builder.compute({10, 40, 7, builder.launch(2)});
  builder.copy({51, 2, 7, builder.launch(8, 50, "cudaMemcpyAsync")}, 1.0F,
               "Memcpy DtoH (Device -> Pageable)");
  builder.compute({80, 20, 7, builder.launch(73)});
  builder.step(1, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.idle(IdleReason::synchronization), 27 * kUs);
  EXPECT_EQ(step.idle(IdleReason::launch), 10 * kUs);  // before the first kernel
}

// The copy into pinned memory returned at once: the host went on, and was late.
TEST(StepSummary, ACopyThatReturnsAtOnceIsNone) {
  HandMadeCycle builder;
  builder.compute({10, 40, 7, builder.launch(2)});
  builder.copy({51, 2, 7, builder.launch(8, 5, "cudaMemcpyAsync")}, 1.0F,
               "Memcpy DtoH (Device -> Pinned)");
  builder.compute({80, 20, 7, builder.launch(73)});
  builder.step(1, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.idle(IdleReason::synchronization), 0);
  EXPECT_EQ(step.idle(IdleReason::launch), (10 + 27) * kUs);
  EXPECT_EQ(step.idle(IdleReason::queued), 1 * kUs);
}

// A gap is the host's until the end of the launch plus the usual latency, 2 us here. What started
// later than that, or whose launch had begun before the gap, had been launched in time.
TEST(StepSummary, ALaunchGapEndsWhenTheWorkIsReady) {
  HandMadeCycle builder;
  builder.compute({7, 13, 7, builder.launch(0)});
  builder.compute({32, 8, 7, builder.launch(25)});
  builder.compute({46, 4, 7, builder.launch(38)});    // the call began before the gap
  builder.compute({200, 10, 8, builder.launch(50)});  // and waits for another 143 us
  builder.step(1, 0, 210);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.idle(IdleReason::launch), (7 + 12 + 7) * kUs);
  EXPECT_EQ(step.idle(IdleReason::queued), (6 + 143) * kUs);
}

TEST(StepSummary, CollectivesAreExposedWhereNothingElseRuns) {
  HandMadeCycle builder;
  builder.compute({0, 40, 7, builder.launch(-5)});
  builder.communicate({20, 50, 20, builder.launch(15)});
  builder.copy({60, 5, 8, builder.launch(30)}, 1.0F);
  builder.step(1, 0, 100);
  CycleTrace cycle = builder.build();
  cycle.collectives.push_back({20 * kUs, 50 * kUs, 3, cycle.names.intern("default_pg")});
  const StepSummary step = only_step(cycle);
  ASSERT_EQ(step.collectives.size(), 1U);
  EXPECT_EQ(step.collectives[0].exposed_ns, 25 * kUs);
  EXPECT_EQ(step.exposed_communication_ns, 25 * kUs);
}

TEST(StepSummary, CommunicationWithinLayersIsCountedWhereNoOtherRuns) {
  HandMadeCycle builder;
  builder.compute({0, 20, 7, builder.launch(-6)});
  builder.communicate({20, 40, 20, builder.launch(2)}).within_layers();
  builder.communicate({50, 30, 21, builder.launch(3)});
  builder.compute({80, 20, 7, builder.launch(4)});
  builder.step(1, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.exposed_communication_ns, 60 * kUs);
  EXPECT_EQ(step.layer_communication_ns, 30 * kUs);
}

TEST(StepSummary, WorkGoesToTheStepInWhoseTimeItRuns) {
  HandMadeCycle builder;
  builder.compute({50, 100, 7, builder.launch(10)});
  builder.step(1, 0, 100).step(2, 100, 100);
  const CycleTrace cycle = builder.build();
  const auto steps = steps_of(cycle);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].computation_ns, 50 * kUs);
  EXPECT_EQ(steps[1].computation_ns, 50 * kUs);
  EXPECT_EQ(steps[1].idle(IdleReason::launch), 50 * kUs);  // nothing followed
}

TEST(StepSummary, WithoutStepsTheWholeIsOne) {
  HandMadeCycle builder;
  builder.compute({50, 20, 7, builder.launch(10)});
  builder.compute({90, 10, 7, builder.launch(80)});
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.number, kNoStep);
  EXPECT_EQ(step.start_ns, 50 * kUs);
  EXPECT_EQ(step.duration_ns, 50 * kUs);
  EXPECT_EQ(step.idle(IdleReason::launch), 20 * kUs);
  EXPECT_TRUE(steps_of(CycleTrace{}).empty());
}

TEST(StepSummary, NoMomentCountsInTwoSteps) {
  HandMadeCycle builder;
  builder.compute({10, 80, 7, builder.launch(5)});
  builder.step(1, 0, 60).step(2, 20, 20).step(3, 50, 50);
  const auto steps = steps_of(builder.build());
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].computation_ns, 50 * kUs);
  EXPECT_EQ(steps[1].computation_ns, 0);
  EXPECT_EQ(steps[2].computation_ns, 30 * kUs);
  EXPECT_EQ(steps[2].idle_sum_ns(), 10 * kUs);
}

TEST(StepSummary, CollectivesThatBeginInTheStep) {
  HandMadeCycle builder;
  builder.step(1, 0, 100);
  CycleTrace cycle = builder.build();
  const NameId group = cycle.names.intern("default_pg");
  for (const std::int64_t at : {-5, 10, 60, 100})
    cycle.collectives.push_back({at * kUs, 7, at, group});
  const StepSummary step = only_step(cycle);
  ASSERT_EQ(step.collectives.size(), 2U);
  EXPECT_EQ(step.collectives[0].sequence, 10);
  EXPECT_EQ(step.collectives[1].sequence, 60);
  EXPECT_EQ(step.collectives[0].group, step.collectives[1].group);
}

// The call began before the gap, and took long: until it ended the device waited for the host.
TEST(StepSummary, ACallInProgressIsNoQueue) {
  HandMadeCycle builder;
  builder.compute({10, 20, 7, builder.launch(2)});
  builder.compute({62, 38, 7, builder.launch(20, 40)});
  builder.step(1, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.idle(IdleReason::launch), (10 + 32) * kUs);
  EXPECT_EQ(step.idle(IdleReason::queued), 0);
}

// One call launches them all: between them the device does not wait for the host.
TEST(StepSummary, WithinAGraphActivitiesAreQueued) {
  HandMadeCycle builder;
  const std::uint32_t graph = builder.launch(2, 90, "cudaGraphLaunch");
  builder.compute({10, 20, 7, graph});
  builder.compute({40, 60, 7, graph});
  builder.step(1, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.idle(IdleReason::launch), 10 * kUs);
  EXPECT_EQ(step.idle(IdleReason::queued), 10 * kUs);
}

// What the host does while launched work waits for another stream costs nothing.
TEST(StepSummary, AWaitForDataCostsNothingWhileWorkIsQueued) {
  HandMadeCycle builder;
  builder.compute({0, 10, 7, kNoLaunch});
  builder.compute({50, 10, 7, kNoLaunch});  // launched before the recording began
  builder.compute({80, 10, 7, builder.launch(5)});
  builder.compute({90, 10, 7, builder.launch(10)});
  builder.step(1, 0, 100);
  CycleTrace cycle = builder.build();
  cycle.data_waits = {{20 * kUs, 78 * kUs}};
  const StepSummary step = only_step(cycle);
  EXPECT_EQ(step.idle(IdleReason::data_wait), 0);
  EXPECT_EQ(step.idle(IdleReason::queued), 60 * kUs);
}

// Without any launch it is not known what was queued.
TEST(StepSummary, WithoutLaunchesAWaitForDataIsTheReason) {
  HandMadeCycle builder;
  builder.compute({0, 10, 7, kNoLaunch}).compute({60, 40, 7, kNoLaunch});
  builder.step(1, 0, 100);
  CycleTrace cycle = builder.build();
  cycle.data_waits = {{20 * kUs, 50 * kUs}};
  const StepSummary step = only_step(cycle);
  EXPECT_EQ(step.idle(IdleReason::data_wait), 30 * kUs);
  EXPECT_EQ(step.idle(IdleReason::queued), 20 * kUs);
}

// The next kernel runs beside the collective as soon as it is launched: it did not wait for it.
TEST(StepSummary, NothingWaitsForACollectiveBesideWhichTheHostLaunches) {
  HandMadeCycle builder;
  builder.compute({0, 20, 7, builder.launch(-6)});
  builder.communicate({10, 80, 20, builder.launch(2)});
  builder.compute({50, 50, 7, builder.launch(42, 8)});
  builder.step(1, 0, 100);
  const StepSummary step = only_step(builder.build());
  EXPECT_EQ(step.exposed_communication_ns, 30 * kUs);
  EXPECT_EQ(step.unawaited_communication_ns, 30 * kUs);
  EXPECT_EQ(step.waited_communication_ns(), 0);
}

// The host comes to wait for the end of the collective when half of that has passed anyway.
TEST(StepSummary, AHostThatIsStillLaunchingDoesNotWaitForACollective) {
  HandMadeCycle builder;
  builder.compute({0, 20, 7, builder.launch(-6)});
  builder.communicate({10, 50, 20, builder.launch(2)});
  builder.compute({60, 40, 7, builder.launch(22)});
  builder.step(1, 0, 100);
  CycleTrace cycle = builder.build();
  cycle.blocking_calls = {{45 * kUs, 98 * kUs}};
  const StepSummary step = only_step(cycle);
  EXPECT_EQ(step.exposed_communication_ns, 40 * kUs);
  EXPECT_EQ(step.waited_communication_ns(), 15 * kUs);
}

TEST(StepSummary, WhatIsQueuedWaitsForACollective) {
  HandMadeCycle builder;
  builder.compute({0, 20, 7, builder.launch(-6)});
  builder.communicate({10, 50, 20, builder.launch(2)});
  builder.compute({60, 40, 7, builder.launch(22)});
  builder.step(1, 0, 100);
  EXPECT_EQ(only_step(builder.build()).waited_communication_ns(), 40 * kUs);
}

}  // namespace trainwatch::step_summary_test

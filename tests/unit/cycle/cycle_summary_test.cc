// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/cycle_summary.h"

#include <gtest/gtest.h>

#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::cycle_summary_test {

CycleSummary measured(const CycleTrace& cycle) {
  return summarize(SelectedCycle(cycle, StepSelection::included));
}

TEST(CycleSummary, NothingWithoutActivity) {
  HandMadeCycle builder;
  builder.step(1, 0, 100);
  const CycleSummary found = measured(builder.build());
  EXPECT_EQ(found.window_ns, 0);
  EXPECT_EQ(found.activities, 0U);
  EXPECT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.step_ns(), 100'000);
  EXPECT_EQ(found.idle(IdleReason::launch), 0);
}

TEST(CycleSummary, IdleByWhatEndsTheGapOnAnyStream) {
  HandMadeCycle builder;
  builder.compute({0, 100, 7, builder.launch(-20)});
  builder.communicate({50, 100, 20, builder.launch(-10)});  // hidden for half of it
  builder.compute({160, 40, 7, builder.launch(-5)});        // launched long before: 10 us of gap
  builder.compute({300, 50, 20, builder.launch(250)});      // not yet launched when the gap began
  builder.copy({450, 10, 7, builder.launch(10)}, 1.0F);     // launched; 100 us is no usual gap
  const CycleSummary found = measured(builder.build());
  EXPECT_EQ(found.window_ns, 460'000);
  EXPECT_EQ(found.busy_ns, 250'000);
  EXPECT_EQ(found.idle_ns, (std::array<std::int64_t, kIdleCauses>{100'000, 10'000, 100'000}));
  EXPECT_EQ(found.activities, 5U);
  EXPECT_EQ(found.launches, 5U);
  EXPECT_EQ(found.computation_ns, 190'000);
  EXPECT_EQ(found.communication_ns, 100'000);
  EXPECT_EQ(found.overlapped_ns, 50'000);
  EXPECT_EQ(found.memory_ns, 10'000);
}

std::size_t warm_up_of(const std::vector<std::int64_t>& lengths,
                       const std::vector<std::int64_t>& idle = {}) {
  CycleSummary cycle;
  for (const std::int64_t length : lengths) cycle.steps.emplace_back().duration_ns = length;
  for (std::size_t i = 0; i < idle.size(); ++i) cycle.steps[i].idle_ns[0] = idle[i];
  cycle.find_warm_up();
  return cycle.warm_up_steps;
}

TEST(CycleSummary, TheFirstStepsAreWarmUpAsLongAsTheyAreLonger) {
  EXPECT_EQ(warm_up_of({900, 100, 101, 99}), 1U);
  EXPECT_EQ(warm_up_of({900, 600, 100, 101, 99}), 2U);
  EXPECT_EQ(warm_up_of({260, 100, 101, 99}), 1U);
  EXPECT_EQ(warm_up_of({900, 100}), 1U);
  EXPECT_EQ(warm_up_of({300, 1500, 180, 100, 100, 101, 99}), 3U) << "in any order";
  EXPECT_EQ(warm_up_of({1500, 1400, 100}), 2U) << "most of a short record";
  EXPECT_EQ(warm_up_of({140, 100, 101, 99}), 0U);
  EXPECT_EQ(warm_up_of({100, 900, 101, 99}), 0U) << "a stall later on";
  EXPECT_EQ(warm_up_of({}), 0U);
  EXPECT_EQ(warm_up_of({900}), 0U) << "something is left to judge";
}

TEST(CycleSummary, TheFirstStepsAreWarmUpAsLongAsTheDeviceIsFarMoreIdle) {
  EXPECT_EQ(warm_up_of({100, 100, 100, 100, 100}, {90, 40, 3, 2, 3}), 2U);
  EXPECT_EQ(warm_up_of({100, 100, 100, 100, 100}, {35, 30, 33, 31, 30}), 0U);
}

}  // namespace trainwatch::cycle_summary_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/step_selection.h"

#include <gtest/gtest.h>

#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::step_selection_test {

// Names of the selected activities.
std::string counted(const CycleTrace& cycle, StepSelection steps) {
  const SelectedCycle selected(cycle, steps);
  std::string names;
  for (const std::uint32_t row : selected.rows())
    names += std::string(cycle.names.text(cycle.device[row].name)) + " ";
  return names;
}

HandMadeCycle two_steps() {
  HandMadeCycle built;
  built.step(4, 0, 100).step(5, 100, 100);
  built.compute({-50, 10}, "left_over");
  built.compute({20, 10, 7, built.launch(10)}, "first");
  built.compute({250, 10, 7, built.launch(150)}, "last");
  built.compute({300, 10, 7, built.launch(201)}, "after");
  return built;
}

TEST(StepSelection, WorkCountsWhenItsLaunchDoes) {
  const CycleTrace cycle = two_steps().build();
  EXPECT_EQ(counted(cycle, StepSelection::included), "first last ");
  EXPECT_EQ(counted(cycle, StepSelection::without_last), "first ");
  EXPECT_EQ(counted(cycle, StepSelection::all), "left_over first last after ");
}

TEST(StepSelection, LaunchesAtTheVeryEndOfTheLastStepAreIncluded) {
  HandMadeCycle built = two_steps();
  built.compute({310, 10, 7, built.launch(200)}, "end");
  EXPECT_EQ(counted(built.build(), StepSelection::included), "first last end ");
}

TEST(StepSelection, WithFewerThanTwoStepsEverythingCounts) {
  HandMadeCycle built;
  built.compute({0, 10}, "left_over");
  CycleTrace cycle = built.build();
  EXPECT_EQ(counted(cycle, StepSelection::without_last), "left_over ");
  cycle.steps = {{0, 100'000, 4, 0}, {200'000, 100'000, 4, 0}};
  EXPECT_EQ(counted(cycle, StepSelection::without_last), "left_over ");
}

TEST(StepSelection, StepsAsAWholeAreAllButTheLast) {
  HandMadeCycle built = two_steps();
  built.annotate(160, 50, "ProfilerStep#5", true);
  CycleTrace cycle = built.build();
  const auto counts = [&](StepSelection steps, std::size_t index) {
    return SelectedCycle(cycle, steps).counts(cycle.steps[index]);
  };
  EXPECT_TRUE(counts(StepSelection::included, 1));
  EXPECT_TRUE(counts(StepSelection::all, 1));
  EXPECT_TRUE(counts(StepSelection::without_last, 0));
  EXPECT_FALSE(counts(StepSelection::without_last, 1));
  cycle.steps.pop_back();
  EXPECT_TRUE(counts(StepSelection::without_last, 0));
}

TEST(StepSelection, WorkOnNoStreamNeverCounts) {
  HandMadeCycle built;
  built.wait({0, 10, kNoStream});
  EXPECT_EQ(counted(built.build(), StepSelection::all), "");
}

TEST(StepSelection, TheLastStepOfTheDeviceIsTheCutWithoutTheLast) {
  HandMadeCycle built = two_steps();
  built.annotate(160, 50, "ProfilerStep#5", true);
  EXPECT_EQ(counted(built.build(), StepSelection::without_last), "first last ");
}

TEST(StepSelection, AnnotationsOnTheDeviceMayComeAfterTheLastStep) {
  HandMadeCycle built = two_steps();
  built.annotate(10, 5, "host").annotate(210, 5, "late").annotate(210, 5, "device", true);
  const CycleTrace cycle = built.build();
  const SelectedCycle with(cycle, StepSelection::included);
  EXPECT_TRUE(with.counts(cycle.annotations[0]));
  EXPECT_FALSE(with.counts(cycle.annotations[1]));
  EXPECT_TRUE(with.counts(cycle.annotations[2]));
  const SelectedCycle without(cycle, StepSelection::without_last);
  EXPECT_TRUE(without.counts(cycle.annotations[0]));
  EXPECT_FALSE(without.counts(cycle.annotations[2]));
}

// HTA assigns no step to activities on stream 0, where ROCm does everything.
TEST(StepSelection, WorkBelongsToTheStepThatLaunchedItOnStream0Too) {
  HandMadeCycle built;
  built.step(4, 0, 100).step(5, 100, 100).step(6, 200, 100);
  built.compute({150, 10, 0, built.launch(99)});
  built.compute({160, 10, 0, built.launch(100)});
  built.compute({260, 10, 0, built.launch(299)});
  built.compute({170, 10, 0, built.launch(150)});
  const CycleTrace cycle = built.build();
  const SelectedCycle selected(cycle, StepSelection::included);
  const std::vector<StepActivity> steps = activity_by_step(selected);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].number, 4);
  EXPECT_EQ(steps[0].rows.size(), 1U);
  EXPECT_EQ(steps[1].number, 5);
  EXPECT_EQ(steps[1].rows.size(), 2U);
  EXPECT_EQ(steps[2].rows.size(), 1U);
}

TEST(StepSelection, WorkLaunchedBetweenStepsHasNone) {
  HandMadeCycle built;
  built.step(4, 0, 100).step(5, 150, 100);
  built.compute({0, 10, 7, built.launch(-1)});
  built.compute({120, 10, 7, built.launch(110)});
  const CycleTrace cycle = built.build();
  const SelectedCycle selected(cycle, StepSelection::included);
  EXPECT_EQ(selected.rows().size(), 2U);
  EXPECT_TRUE(activity_by_step(selected).empty());
}

}  // namespace trainwatch::step_selection_test

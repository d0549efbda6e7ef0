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

}  // namespace trainwatch::cycle_summary_test

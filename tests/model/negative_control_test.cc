// SPDX-License-Identifier: Apache-2.0
// The simulation must find what is known to be wrong, or it proves nothing.
#include <gtest/gtest.h>

#include "model/simulation.h"

namespace trainwatch::test::negative_control_test {

// How many of the first seeds fail.
int failures(Discipline discipline) {
  Coverage coverage;
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Plan plan;
    plan.seed = seed;
    plan.discipline = discipline;
    Simulation run(plan, coverage);
    if (!run.run().empty()) ++failures;
  }
  return failures;
}

TEST(NegativeControl, NoFailureWhereAllIsRight) {
  EXPECT_EQ(failures(Discipline::right), 0);
}

TEST(NegativeControl, OffsetsWithoutTheStateOfRules) {
  EXPECT_GE(failures(Discipline::offsets_only), 50);
}

TEST(NegativeControl, AlertsSeenBeforeTheyAreCommitted) {
  EXPECT_GE(failures(Discipline::publish_before_commit), 50);
}

}  // namespace trainwatch::test::negative_control_test

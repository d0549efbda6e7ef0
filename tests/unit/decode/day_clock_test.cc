// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/day_clock.h"

#include <gtest/gtest.h>

namespace trainwatch::testing::day_clock_test {

TEST(DayClock, CountsFromMidnightToTheNextDays) {
  DayClock clock;
  EXPECT_EQ(clock.read("[23:59:59] step 1"), 86399.0);
  EXPECT_EQ(clock.read("00:00:01,500 INFO step 2"), 86401.5);
  EXPECT_EQ(clock.read("step 3 at time 12:00:00.25 from start"), 86400 + 43200.25);
}

TEST(DayClock, ATimeThatIsLeftIsNone) {
  DayClock clock;
  EXPECT_EQ(clock.read("step 1 eta: 0:03:54 loss 2"), std::nullopt);
  EXPECT_EQ(clock.read("step 1 (remaining 00:03:54)"), std::nullopt);
  EXPECT_EQ(clock.read("10.0.0.1:80:00 step 1 4:5"), std::nullopt);
  EXPECT_EQ(clock.read("step 1 loss 2.5"), std::nullopt);
}

}  // namespace trainwatch::testing::day_clock_test

// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/late_ranks.h"

#include <gmock/gmock.h>

namespace trainwatch::late_ranks_test {

using testing::ElementsAre;

TEST(LateRanks, FarFromTheMedian) {
  const LateRanks found = late_ranks({100, 101, 150, 99});
  EXPECT_THAT(found.late, ElementsAre(false, false, true, false));
  EXPECT_EQ(found.usual_ns, 101);  // 100.5
}

TEST(LateRanks, SixPercentIsNotLate) {
  EXPECT_THAT(late_ranks({100, 100, 106}).late, ElementsAre(false, false, false));
  EXPECT_THAT(late_ranks({100, 100, 107}).late, ElementsAre(false, false, true));
}

TEST(LateRanks, WhereRanksDifferMuchOnlyTheLongestIsLate) {
  EXPECT_THAT(late_ranks({100, 150, 200, 250}).late, ElementsAre(false, false, false, true));
}

TEST(LateRanks, SeveralMayBeLate) {
  EXPECT_THAT(late_ranks({100, 140, 101, 99, 150, 100}).late,
              ElementsAre(false, true, false, false, true, false));
}

TEST(LateRanks, OneOfTwoIsComparedWithTheOther) {
  const LateRanks found = late_ranks({100, 108});
  EXPECT_THAT(found.late, ElementsAre(false, true));
  EXPECT_EQ(found.usual_ns, 100);
}

TEST(LateRanks, NobodyIsLateAlone) {
  EXPECT_THAT(late_ranks({100}).late, ElementsAre(false));
  EXPECT_TRUE(late_ranks({}).late.empty());
}

}  // namespace trainwatch::late_ranks_test

#include "trainwatch/stats/late_ranks.h"

#include <gmock/gmock.h>

namespace trainwatch::late_ranks_test {

using testing::ElementsAre;

TEST(LateRanks, FarFromTheMedian) {
  const LateRanks found = late_ranks({100, 101, 150, 99});
  EXPECT_THAT(found.late, ElementsAre(false, false, true, false));
  EXPECT_EQ(found.median_ns, 101);  // 100.5
}

TEST(LateRanks, ATenthIsNotLate) {
  EXPECT_THAT(late_ranks({100, 100, 110}).late, ElementsAre(false, false, false));
  EXPECT_THAT(late_ranks({100, 100, 112}).late, ElementsAre(false, false, true));
}

TEST(LateRanks, WhereRanksDifferMuchNobodyIsLate) {
  EXPECT_THAT(late_ranks({100, 150, 200, 250}).late, ElementsAre(false, false, false, false));
}

TEST(LateRanks, OneOfTwoIsNotLate) {
  EXPECT_THAT(late_ranks({100, 500}).late, ElementsAre(false, false));
  EXPECT_TRUE(late_ranks({}).late.empty());
}

}  // namespace trainwatch::late_ranks_test

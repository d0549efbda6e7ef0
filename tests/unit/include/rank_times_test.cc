#include "trainwatch/rank_times.h"

#include <gmock/gmock.h>

namespace trainwatch::rank_times_test {

using testing::ElementsAre;

StepSummary step(std::int64_t duration, std::int64_t communication,
                 std::vector<CollectiveSummary> collectives = {}) {
  StepSummary made;
  made.duration_ns = duration;
  made.communication_ns = communication;
  made.collectives = std::move(collectives);
  return made;
}

RankTimes times_of(const std::vector<StepSummary>& ranks) {
  std::vector<RankPart> parts;
  for (const StepSummary& rank : ranks) parts.emplace_back(rank);
  return own_times(parts);
}

TEST(RankTimes, WithoutNumbersAllCommunicationIsWaiting) {
  const RankTimes found = times_of({step(100, 30), step(100, 5)});
  EXPECT_THAT(found.own_ns, ElementsAre(70, 95));
  EXPECT_EQ(found.matched, 0U);
  EXPECT_THAT(found.last, ElementsAre(0, 0));
}

// The second rank came last to the first collective and the third to the other: only what the
// others waited for these counts, not the transfer itself.
TEST(RankTimes, CollectivesAreMatchedByGroupAndNumber) {
  const RankTimes found =
      times_of({step(100, 40, {{1, 7, 30}, {1, 8, 10}}), step(100, 14, {{1, 7, 4}, {1, 8, 10}}),
                step(100, 26, {{1, 7, 20}, {1, 8, 6}})});
  EXPECT_THAT(found.own_ns, ElementsAre(100 - 26 - 4, 100 - 4, 100 - 16));
  EXPECT_EQ(found.matched, 2U);
  EXPECT_THAT(found.last, ElementsAre(0, 1, 1));
}

// One number in two groups are two collectives, and what only one rank took part in is none.
TEST(RankTimes, GroupsAreApart) {
  const RankTimes found = times_of({step(100, 0, {{1, 7, 30}, {2, 7, 5}, {3, 1, 50}}),
                                    step(100, 0, {{1, 7, 10}}), step(100, 0, {{2, 7, 25}})});
  EXPECT_THAT(found.own_ns, ElementsAre(80, 100, 80));
  EXPECT_EQ(found.matched, 2U);
  EXPECT_THAT(found.last, ElementsAre(1, 1, 0));
}

TEST(RankTimes, MoreWaitingThanTime) {
  EXPECT_THAT(times_of({step(10, 30), step(10, 0)}).own_ns, ElementsAre(0, 10));
}

}  // namespace trainwatch::rank_times_test

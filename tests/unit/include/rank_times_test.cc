// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/rank_times.h"

#include <gmock/gmock.h>

namespace trainwatch::rank_times_test {

using testing::ElementsAre;

// All communication is exposed, unless a collective says otherwise.
StepSummary step(std::int64_t duration, std::int64_t exposed,
                 std::vector<CollectiveSummary> collectives = {}) {
  StepSummary made;
  made.duration_ns = duration;
  made.communication_ns = duration;
  made.exposed_communication_ns = exposed;
  for (CollectiveSummary& part : collectives) {
    if (part.exposed_ns == 0) part.exposed_ns = part.duration_ns;
  }
  made.collectives = std::move(collectives);
  return made;
}

RankTimes times_of(const std::vector<StepSummary>& ranks) {
  std::vector<RankPart> parts;
  for (const StepSummary& rank : ranks) parts.emplace_back(rank);
  return own_times(parts);
}

TEST(RankTimes, WithoutNumbersAllExposedCommunicationIsWaiting) {
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

// The first rank computed while it waited, but for the last 2 of 30, and both are exposed to 2 of
// the transfer.
TEST(RankTimes, WhatComputationHidesIsNoWaiting) {
  const RankTimes found = times_of({step(100, 2, {{1, 7, 30, 2}}), step(100, 2, {{1, 7, 4, 2}})});
  EXPECT_THAT(found.own_ns, ElementsAre(100, 100));
  EXPECT_EQ(found.matched, 1U);
}

// A host that runs ahead of its device has the collective of one step in another one.
TEST(RankTimes, ACollectiveThatAnotherRankOfItsGroupLacksIsWaiting) {
  const RankTimes found = times_of(
      {step(100, 30, {{1, 7, 30}}), step(100, 29, {{1, 7, 29}}), step(100, 2, {{1, 6, 2}})});
  EXPECT_THAT(found.own_ns, ElementsAre(70, 71, 98));
  EXPECT_EQ(found.matched, 0U);
}

TEST(RankTimes, MoreWaitingThanTime) {
  EXPECT_THAT(times_of({step(10, 30), step(10, 0)}).own_ns, ElementsAre(0, 10));
}

}  // namespace trainwatch::rank_times_test

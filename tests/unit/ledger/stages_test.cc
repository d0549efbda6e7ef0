// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/stages.h"

#include <gtest/gtest.h>

namespace trainwatch::stages_test {

constexpr auto kRank0 = static_cast<SubjectId>(2);
constexpr auto kRank1 = static_cast<SubjectId>(3);

Time at(double seconds) {
  return Time{from_seconds(seconds)};
}

// The size doubles at `seconds`; `begins`: the change is confirmed.
WorkChange doubled(double seconds, bool begins) {
  return {.ratio = begins ? 1.0 : 2.0,
          .begins = begins,
          .before = at(seconds - 1),
          .first = at(seconds)};
}

TEST(StageHistory, AChangeThatIsNotSureIsWorkOfTheStageBefore) {
  StageHistory stages;
  stages.on(kRank0, doubled(100, false));
  EXPECT_EQ(stages.at(at(98)).work, 1);
  EXPECT_EQ(stages.at(at(150)).stage, 0U);
  EXPECT_EQ(stages.at(at(150)).work, 2);
  stages.on(kRank0, doubled(100, true));
  EXPECT_EQ(stages.at(at(99.5)).stage, 0U) << "between the records";
  EXPECT_EQ(stages.at(at(99.5)).work, 2);
  EXPECT_EQ(stages.at(at(150)).stage, 1U);
  EXPECT_EQ(stages.at(at(150)).work, 1);
}

TEST(StageHistory, OneOddRecordIsForgotten) {
  StageHistory stages;
  stages.on(kRank0, doubled(100, false));
  stages.on(kRank0, {});
  EXPECT_EQ(stages.at(at(150)).work, 1);
}

TEST(StageHistory, OneRankSpeaksForAll) {
  StageHistory stages;
  for (const bool begins : {false, true}) {
    stages.on(kRank0, doubled(100, begins));
    stages.on(kRank1, doubled(101, begins));
  }
  EXPECT_EQ(stages.at(at(150)).stage, 1U);
}

TEST(StageHistory, AnotherRankMayLogTheChangesOfTheNextAttempt) {
  StageHistory stages;
  stages.on(kRank0, doubled(100, true));
  stages.on(kRank0, doubled(200, false));  // the job is killed
  stages.begin_attempt();
  EXPECT_EQ(stages.at(at(250)).stage, 1U);
  EXPECT_EQ(stages.at(at(250)).work, 1) << "it was never sure";
  stages.on(kRank1, doubled(300, false));
  stages.on(kRank1, doubled(300, true));
  EXPECT_EQ(stages.at(at(350)).stage, 2U);
}

TEST(StageHistory, TheOldestChangesAreForgotten) {
  StageHistory stages;
  constexpr std::uint32_t kChanges = 3 * StageHistory::kMost;
  for (std::uint32_t i = 1; i <= kChanges; ++i) stages.on(kRank0, doubled(100.0 * i, true));
  EXPECT_EQ(stages.at(at(100.0 * kChanges)).stage, kChanges);
}

}  // namespace trainwatch::stages_test

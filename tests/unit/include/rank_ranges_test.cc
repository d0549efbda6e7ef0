// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/rank_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

namespace trainwatch::rank_ranges_test {

TEST(RankRanges, AreCounted) {
  EXPECT_EQ(count_ranks(rank_ranges({0, 1, 2, 7})), 4U);
  EXPECT_EQ(count_ranks("5"), 1U);
  EXPECT_EQ(count_ranks(""), 0U);
  EXPECT_EQ(count_ranks("a"), 0U);
  EXPECT_EQ(count_ranks("3-1"), 0U);
  EXPECT_EQ(count_ranks("-3"), 0U);
}

TEST(RankRanges, JoinWhatFollows) {
  RankRanges ranks;
  for (const std::int32_t rank : {4, 0, 2, 1, 1, 6}) ranks.add(rank);
  EXPECT_EQ(ranks.text(), "0-2,4,6");
  ranks.add(5);
  ranks.add(3);
  EXPECT_EQ(ranks.text(), "0-6");
}

// Beside a set of ranks.
TEST(RankRanges, HoldWhatWasAddedInAnyOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    RankRanges ranks;
    RankRanges others;
    std::set<std::int32_t> all;
    for (int i = 0; i < 40; ++i) {
      const auto rank = static_cast<std::int32_t>(random() % 64);
      (random() % 2 == 0 ? ranks : others).add(rank);
      all.insert(rank);
    }
    ranks.add(others);
    EXPECT_EQ(ranks.text(), rank_ranges(all));
    EXPECT_EQ(ranks.count(), all.size());
    const auto parsed = RankRanges::parse(ranks.text());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->text(), ranks.text());
  }
}

}  // namespace trainwatch::rank_ranges_test

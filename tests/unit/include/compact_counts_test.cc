// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/compact_counts.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainwatch::compact_counts_test {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

TEST(CompactCounts, CountBeyondFourBytes) {
  CompactCounts counts(3);
  counts.add(1, kMost);
  EXPECT_EQ(counts[1], kMost);
  counts.add(1, 1);
  counts.add(2, 5 * kMost);
  counts.add(0, 7);
  EXPECT_EQ(counts[0], 7U);
  EXPECT_EQ(counts[1], kMost + 1);
  EXPECT_EQ(counts[2], 5 * kMost);
}

TEST(CompactCounts, GrowAtBothEnds) {
  CompactCounts counts(2);
  counts.add(0, 3);
  counts.add(1, 10 * kMost);
  counts.grow(2, 1);
  ASSERT_EQ(counts.size(), 5U);
  EXPECT_EQ(counts[0], 0U);
  EXPECT_EQ(counts[1], 0U);
  EXPECT_EQ(counts[2], 3U);
  EXPECT_EQ(counts[3], 10 * kMost);
  EXPECT_EQ(counts[4], 0U);
  counts.add(4, kMost + 2);
  EXPECT_EQ(counts[4], kMost + 2);
}

}  // namespace trainwatch::compact_counts_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/interval_set.h"

#include <gtest/gtest.h>

namespace trainwatch::interval_set_test {

TEST(IntervalSet, OverlappingAndTouchingIntervalsBecomeOne) {
  const IntervalSet set({{30, 40}, {0, 10}, {5, 8}, {10, 20}});
  ASSERT_EQ(set.intervals().size(), 2U);
  EXPECT_EQ(set.intervals()[0].end_ns, 20);
  EXPECT_EQ(set.covered_ns({0, 100}), 30);
}

TEST(IntervalSet, NothingCoversNothing) {
  EXPECT_EQ(IntervalSet().covered_ns({0, 100}), 0);
  EXPECT_EQ(IntervalSet(std::vector<Interval>{}).covered_ns({0, 100}), 0);
}

TEST(IntervalSet, AnIntervalWithoutLengthCoversNothing) {
  const IntervalSet set({{0, 0}, {5, 8}});
  EXPECT_EQ(set.covered_ns({0, 100}), 3);
}

}  // namespace trainwatch::interval_set_test

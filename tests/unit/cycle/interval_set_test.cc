// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/interval_set.h"

#include <gtest/gtest.h>

namespace trainwatch::interval_set_test {

TEST(IntervalSet, OverlappingAndTouchingIntervalsBecomeOne) {
  const IntervalSet set({{30, 40}, {0, 10}, {5, 8}, {10, 20}});
  ASSERT_EQ(set.intervals().size(), 2U);
  EXPECT_EQ(set.intervals()[0].end_ns, 20);
  EXPECT_EQ(set.covered_ns(), 30);
  EXPECT_EQ(set.extent_ns(), 40);
}

TEST(IntervalSet, NothingHasNoExtent) {
  EXPECT_EQ(IntervalSet().covered_ns(), 0);
  EXPECT_EQ(IntervalSet(std::vector<Interval>{}).extent_ns(), 0);
}

TEST(IntervalSet, AnIntervalWithoutLengthIsPartOfTheExtentOnly) {
  const IntervalSet set({{0, 0}, {5, 8}});
  EXPECT_EQ(set.covered_ns(), 3);
  EXPECT_EQ(set.extent_ns(), 8);
}

TEST(IntervalSet, Intersection) {
  const IntervalSet a({{0, 10}, {20, 30}, {40, 50}});
  const IntervalSet b({{5, 25}, {30, 40}, {45, 46}, {48, 60}});
  const IntervalSet both = intersection(a, b);
  EXPECT_EQ(both.covered_ns(), 5 + 5 + 1 + 2);
  EXPECT_EQ(intersection(b, a).covered_ns(), both.covered_ns());
  EXPECT_EQ(intersection(a, IntervalSet()).covered_ns(), 0);
}

}  // namespace trainwatch::interval_set_test

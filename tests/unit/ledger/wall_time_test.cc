// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/wall_time.h"

#include <gtest/gtest.h>

#include "tests/support/engine_state.h"

namespace trainwatch::wall_time_test {

constexpr std::int64_t kBegin = 1'700'000'000;

Time at(double seconds) {
  return Time{std::chrono::seconds(kBegin)} + from_seconds(seconds);
}

SpentTime spent(double from, double to, LifePart part) {
  SpentTime one{at(from), at(to), {}};
  one.parts[part] = to - from;
  return one;
}

double sum(const ColumnChart<PartSeconds>& chart, LifePart part) {
  double seconds = 0;
  for (const auto& [begin, column] : chart.columns) seconds += column[part];
  return seconds;
}

TEST(WallTime, ATimeIsSpreadOverItsColumns) {
  WallTime time;
  time.add(spent(0.5, 3.5, LifePart::training));
  time.add(spent(3.5, 4, LifePart::input_wait));
  const auto chart = time.chart({});
  ASSERT_EQ(chart.columns.size(), 4U);
  EXPECT_EQ(chart.width, std::chrono::seconds(1));
  EXPECT_NEAR(chart.columns[0].second[LifePart::training], 0.5, 1e-9);
  EXPECT_NEAR(chart.columns[1].second[LifePart::training], 1, 1e-9);
  EXPECT_NEAR(chart.columns[3].second[LifePart::training], 0.5, 1e-9);
  EXPECT_NEAR(chart.columns[3].second[LifePart::input_wait], 0.5, 1e-9);
}

TEST(WallTime, ALongRunIsKeptWholeInFewColumns) {
  WallTime time;
  time.add(spent(0, 40'000, LifePart::down));
  for (int i = 0; i < 10'000; ++i) time.add(spent(40'000 + i, 40'001 + i, LifePart::training));
  const auto chart = time.chart({});
  EXPECT_LE(chart.columns.size(), WallTime::kWhole);
  EXPECT_NEAR(sum(chart, LifePart::down), 40'000, 1e-3);
  EXPECT_NEAR(sum(chart, LifePart::training), 10'000, 1e-3);
  const auto latest = time.chart({.from = at(49'900)});
  EXPECT_EQ(latest.width, std::chrono::seconds(1)) << "the last minutes are known by second";
}

TEST(WallTime, WhatWasSpentInATimeIsNoMoreThanThatTime) {
  WallTime time;
  for (int i = 0; i < 10'000; ++i)
    time.add(spent(i, i + 1, i % 100 < 30 ? LifePart::input_wait : LifePart::training));
  EXPECT_NEAR(time.spent(at(0), at(10'000))[LifePart::input_wait], 3'000, 1);
  EXPECT_NEAR(time.spent(at(2'000), at(6'000))[LifePart::input_wait], 1'200, 20);
  EXPECT_LE(time.spent(at(2'000), at(2'004))[LifePart::input_wait], 4 + 1e-9);
  EXPECT_NEAR(time.spent(at(9'900), at(9'925))[LifePart::input_wait], 25, 1e-6) << "by second";
  EXPECT_EQ(time.spent(at(0), at(10'000))[LifePart::stalled], 0);
}

TEST(WallTime, ARestartLosesNothing) {
  WallTime time;
  StoredRows stored;
  for (int i = 0; i < 2'000; ++i) {
    time.add(spent(i, i + 1, LifePart::training));
    if (i % 97 != 0) continue;
    StateRows rows;
    time.save(rows, "run/", false);
    test::store(rows, stored);
  }
  StateRows rows;
  time.save(rows, "run/", false);
  test::store(rows, stored);
  WallTime loaded;
  ASSERT_TRUE(loaded.load(stored, "run/"));
  const auto before = time.chart({});
  const auto after = loaded.chart({});
  ASSERT_EQ(after.columns.size(), before.columns.size());
  EXPECT_NEAR(sum(after, LifePart::training), 2'000, 1e-6);
  StateRows removal;
  time.remove(removal, "run/");
  test::store(removal, stored);
  EXPECT_TRUE(stored.empty());
}

}  // namespace trainwatch::wall_time_test

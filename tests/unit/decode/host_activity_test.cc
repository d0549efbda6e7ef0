// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "pipeline/decode/kineto/host_events.h"

namespace trainwatch::host_activity_test {

constexpr std::int64_t kMs = 1'000'000;

using Pauses = std::vector<std::pair<std::int64_t, std::int64_t>>;  // milliseconds

Pauses pauses_of(const std::vector<Interval>& active) {
  HostActivity activity;
  for (const Interval& interval : active) activity.add(interval);
  Pauses found;
  for (const Interval& pause : activity.pauses())
    found.emplace_back(pause.start_ns / kMs, pause.end_ns / kMs);
  return found;
}

std::vector<Interval> milliseconds(std::initializer_list<std::pair<int, int>> intervals) {
  std::vector<Interval> made;
  for (const auto& [start, end] : intervals) made.push_back({start * kMs, end * kMs});
  return made;
}

TEST(HostActivity, SilencesOfTenMillisecondsArePauses) {
  EXPECT_EQ(pauses_of({}), Pauses{});
  EXPECT_EQ(pauses_of(milliseconds({{0, 5}, {14, 20}, {30, 31}})), (Pauses{{20, 30}}));
}

TEST(HostActivity, AnotherThreadFillsASilence) {
  EXPECT_EQ(pauses_of(milliseconds({{0, 5}, {100, 110}, {20, 60}})), (Pauses{{5, 20}, {60, 100}}));
  EXPECT_EQ(pauses_of(milliseconds({{0, 5}, {100, 110}, {3, 101}})), Pauses{});
  EXPECT_EQ(pauses_of(milliseconds({{50, 60}, {0, 5}, {45, 46}})), (Pauses{{5, 45}}));
}

TEST(HostActivity, OrderDoesNotMatter) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> active;
    for (int i = 0; i < 40; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 2000) * kMs;
      active.push_back({start, start + static_cast<std::int64_t>(random() % 30) * kMs});
    }
    std::ranges::sort(active, {}, &Interval::start_ns);
    const Pauses sorted = pauses_of(active);
    std::ranges::shuffle(active, random);
    EXPECT_EQ(pauses_of(active), sorted);
    std::int64_t silent_from = -1;  // by definition
    Pauses expected;
    std::ranges::sort(active, {}, &Interval::start_ns);
    for (const Interval& interval : active) {
      if (silent_from >= 0 && interval.start_ns - silent_from >= HostActivity::kShortestPauseNs)
        expected.emplace_back(silent_from / kMs, interval.start_ns / kMs);
      silent_from = std::max(silent_from, interval.end_ns);
    }
    EXPECT_EQ(sorted, expected);
  }
}

TEST(HostActivity, TooManyPartsProveNothing) {
  HostActivity activity;
  for (std::size_t i = 0; i <= HostActivity::kMostParts; ++i) {
    const std::int64_t start = static_cast<std::int64_t>(i) * 20 * kMs;
    activity.add({start, start + kMs});
  }
  EXPECT_TRUE(activity.pauses().empty());
}

}  // namespace trainwatch::host_activity_test

// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/period_detector.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <set>
#include <string>

#include "support/saved_state.h"

namespace trainwatch::period_detector_test {

std::int64_t period_after(std::initializer_list<std::int64_t> spikes) {
  PeriodDetector detector;
  for (const std::int64_t step : spikes) detector.event(step);
  return detector.period();
}

TEST(PeriodDetector, NeedsEnoughEventsToExcludeChance) {
  EXPECT_EQ(period_after({}), 0);
  EXPECT_EQ(period_after({1500, 3000}), 0);
  EXPECT_EQ(period_after({1500, 3000, 4500}), 0) << "three equal distances are no proof";
  EXPECT_EQ(period_after({1500, 3000, 4500, 6000}), 1500);
  EXPECT_EQ(period_after({500, 1000, 1500, 2000}), 500);
  EXPECT_EQ(period_after({19, 39, 59, 79, 99}), 0);
  EXPECT_EQ(period_after({19, 39, 59, 79, 99, 119}), 20);
  EXPECT_EQ(period_after({3, 19, 39, 59, 79, 99, 119}), 20) << "what came before does not matter";
}

TEST(PeriodDetector, ASlowStretchIsNoRhythm) {
  EXPECT_EQ(period_after({7, 8, 9, 10, 11}), 0);
}

TEST(PeriodDetector, OneMissedEventIsTolerated) {
  EXPECT_EQ(period_after({20, 40, 80, 100, 120, 140, 160}), 20) << "missed while learning";
  EXPECT_EQ(period_after({20, 40, 60, 80, 100, 120, 160}), 20) << "missed when known";
}

TEST(PeriodDetector, ForgetsWhenAnEventIsDueAndMissedTwice) {
  PeriodDetector detector;
  for (std::int64_t step = 20; step <= 120; step += 20) detector.event(step);
  for (std::int64_t step = 121; step < 160; ++step) detector.quiet(step);
  EXPECT_EQ(detector.period(), 20) << "140 was missed, 160 may still come";
  detector.quiet(160);
  EXPECT_EQ(detector.period(), 0);
}

TEST(PeriodDetector, StepsThatBeginAgainBeginANewCount) {
  EXPECT_EQ(period_after({1000, 2000, 3000, 4000, 10}), 0);
  EXPECT_EQ(period_after({1000, 2000, 3000, 4000, 10, 1010, 2010}), 0);
  EXPECT_EQ(period_after({1000, 2000, 3000, 4000, 10, 1010, 2010, 3010}), 1000);
}

TEST(PeriodDetector, FindsEveryPeriod) {
  for (std::int64_t period = 2; period < 4000; period += 37) {
    PeriodDetector detector;
    for (std::int64_t step = 0; step < 25 * period; ++step) {
      step % period == 0 ? detector.event(step) : detector.quiet(step);
    }
    EXPECT_EQ(detector.period(), period);
    EXPECT_TRUE(detector.is_due(25 * period));
    EXPECT_FALSE(detector.is_due(25 * period + 1));
  }
}

// Events at random have no rhythm, however many come.
TEST(PeriodDetector, RandomEventsAreNotPeriodic) {
  std::mt19937 random(3);
  for (const unsigned mean : {4U, 20U, 100U, 1000U}) {
    PeriodDetector detector;
    int detected = 0;
    std::int64_t step = 0;
    for (int i = 0; i < 20000; ++i) {
      step += 2 + static_cast<std::int64_t>(random() % (2 * mean));
      detector.quiet(step - 1);
      detector.event(step);
      if (detector.period() > 0) ++detected;
    }
    EXPECT_LT(detected, 20) << mean;
  }
}

TEST(PeriodDetector, StateSurvivesAndDamageIsRefused) {
  PeriodDetector detector;
  for (const std::int64_t step : {1000, 2000, 3000, 4000}) detector.event(step);
  const std::string bytes = test::saved_state(detector);
  PeriodDetector restored;
  ASSERT_TRUE(test::load_state(bytes, restored));
  restored.event(5000);
  EXPECT_EQ(restored.period(), 1000);

  const std::string garbage(bytes.size(), '\xEE');
  StateIo bad = StateIo::loading(garbage);
  bad(restored);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(restored.period(), 0);
}

}  // namespace trainwatch::period_detector_test

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
  for (const std::int64_t step : spikes) detector.spike(step);
  return detector.period();
}

TEST(PeriodDetector, NeedsThreeSpikesAtEqualDistances) {
  EXPECT_EQ(period_after({}), 0);
  EXPECT_EQ(period_after({19}), 0);
  EXPECT_EQ(period_after({19, 39}), 0);
  EXPECT_EQ(period_after({19, 39, 59}), 20);
  EXPECT_EQ(period_after({19, 39, 60}), 0);
  EXPECT_EQ(period_after({3, 19, 39, 59}), 20) << "what came before does not matter";
}

TEST(PeriodDetector, ASlowStretchIsNoRhythm) {
  EXPECT_EQ(period_after({7, 8, 9, 10, 11}), 0);
}

TEST(PeriodDetector, OneMissedSpikeIsTolerated) {
  EXPECT_EQ(period_after({20, 40, 80, 100}), 20) << "missed while learning";
  EXPECT_EQ(period_after({20, 40, 60, 100}), 20) << "missed when known";
  EXPECT_EQ(period_after({20, 40, 60, 100, 140}), 20) << "every second missed, still on the grid";
  EXPECT_EQ(period_after({20, 40, 60, 120}), 0) << "two missed in a row";
  EXPECT_EQ(period_after({20, 40, 60, 71}), 0) << "off the grid";
}

TEST(PeriodDetector, ForgetsWhenASpikeIsDueAndMissedTwice) {
  PeriodDetector detector;
  for (const std::int64_t step : {20, 40, 60}) detector.spike(step);
  for (std::int64_t step = 61; step < 100; ++step) detector.quiet(step);
  EXPECT_EQ(detector.period(), 20) << "80 was missed, 100 may still come";
  detector.quiet(100);
  EXPECT_EQ(detector.period(), 0);
}

TEST(PeriodDetector, StepsThatBeginAgainBeginANewCount) {
  EXPECT_EQ(period_after({20, 40, 60, 10}), 0);
  EXPECT_EQ(period_after({20, 40, 60, 10, 30}), 0);
  EXPECT_EQ(period_after({20, 40, 60, 10, 30, 50}), 20);
}

TEST(PeriodDetector, FindsEveryPeriod) {
  for (std::int64_t period = 2; period < 2000; period += 37) {
    PeriodDetector detector;
    for (std::int64_t step = 0; step < 5 * period; ++step) {
      step % period == 0 ? detector.spike(step) : detector.quiet(step);
    }
    EXPECT_EQ(detector.period(), period);
  }
}

// Spikes at random have no rhythm for long: of 1000, few are in one by chance.
TEST(PeriodDetector, RandomSpikesAreRarelyPeriodic) {
  std::mt19937 random(3);
  PeriodDetector detector;
  int detected = 0;
  std::int64_t step = 0;
  for (int i = 0; i < 1000; ++i) {
    step += 1 + static_cast<std::int64_t>(random() % 100);
    detector.spike(step);
    if (detector.period() > 0) ++detected;
  }
  EXPECT_LT(detected, 60);
}

TEST(PeriodDetector, StateSurvivesAndDamageIsRefused) {
  PeriodDetector detector;
  for (const std::int64_t step : {20, 40, 60}) detector.spike(step);
  const std::string bytes = test::saved_state(detector);
  PeriodDetector restored;
  ASSERT_TRUE(test::load_state(bytes, restored));
  restored.spike(80);
  EXPECT_EQ(restored.period(), 20);

  const std::string garbage(bytes.size(), '\xEE');
  StateIo bad = StateIo::loading(garbage);
  bad(restored);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(restored.period(), 0);
}

}  // namespace trainwatch::period_detector_test

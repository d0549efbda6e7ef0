// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/verdict_check.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainwatch::verdict_check_test {

// "A step took 3.75 s instead of 0.09 s; more than 0.48 s is slow."
Verdict slow_step() {
  Verdict verdict;
  verdict.window_start = Time{std::chrono::seconds(100)};
  verdict.window_end = Time{std::chrono::seconds(104)};
  verdict.value = 3.75;
  verdict.threshold = 0.48;
  verdict.baseline = 0.09;
  verdict.lost_seconds = 3.66;
  verdict.window_lost_seconds = 3.66;
  return verdict;
}

TEST(VerdictCheck, FiguresThatBearItOut) {
  EXPECT_FALSE(contradicts_itself(slow_step()));
  EXPECT_FALSE(contradicts_itself(Verdict{})) << "a rule that measures nothing";
  Verdict nan = slow_step();
  nan.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(contradicts_itself(nan)) << "a loss may be any";
  Verdict recovering = slow_step();
  recovering.value = 0.2;
  EXPECT_FALSE(contradicts_itself(recovering)) << "it fires until it is as before";
}

TEST(VerdictCheck, SlowerThanBeforeIsMoreThanBefore) {
  Verdict faster = slow_step();
  faster.value = 0.08;
  EXPECT_TRUE(contradicts_itself(faster));
}

TEST(VerdictCheck, TooLittleIsLessThanUsual) {
  Verdict clock;  // MHz
  clock.value = 1100;
  clock.threshold = 1300;
  clock.baseline = 1500;
  EXPECT_FALSE(contradicts_itself(clock));
  clock.value = 1600;
  EXPECT_TRUE(contradicts_itself(clock));
}

TEST(VerdictCheck, NoMoreIsLostThanThereWas) {
  Verdict verdict = slow_step();
  verdict.window_lost_seconds = 5;
  EXPECT_TRUE(contradicts_itself(verdict));
}

TEST(VerdictCheck, NegativeAndEndlessAmountsAreNone) {
  for (const double seconds : {-1.0, std::numeric_limits<double>::infinity()}) {
    Verdict verdict = slow_step();
    verdict.lost_seconds = seconds;
    EXPECT_TRUE(contradicts_itself(verdict)) << seconds;
  }
  Verdict verdict = slow_step();
  verdict.cause.coverage = 1.2;
  EXPECT_TRUE(contradicts_itself(verdict));
}

}  // namespace trainwatch::verdict_check_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/named_time.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainwatch::testing::named_time_test {

using enum ScalarKind;

ScalarKind last_kind(const std::vector<double>& values, std::uint32_t steps) {
  NamedTime time;
  ScalarKind kind = other;
  for (const double value : values) kind = time.kind_of(value, false, steps);
  return kind;
}

TEST(NamedTime, WhatRisesIsTheTimeSinceTheBeginning) {
  EXPECT_EQ(last_kind({0.5, 1, 1.5, 2}, 10), elapsed_seconds);
  EXPECT_EQ(last_kind({0.5, 1, 1.5}, 10), other);
}

TEST(NamedTime, WhatDoesNotRiseIsHowLongASingleStepTook) {
  EXPECT_EQ(last_kind({2, 2, 2}, 1), step_seconds);
  EXPECT_EQ(last_kind({2, 2, 2}, 10), other);  // of a step, or of all ten
}

TEST(NamedTime, DurationsThatRiseByChanceAreDurations) {
  EXPECT_EQ(last_kind({12.1, 12.2, 12.3, 12.4, 12.5}, 1), other);
  EXPECT_EQ(last_kind({12.1, 12.2, 12.3, 12.4, 12.5, 12.2}, 1), step_seconds);
}

TEST(NamedTime, ATrainingThatIsStartedAgainBeginsAtNothing) {
  EXPECT_EQ(last_kind({10, 20, 30, 40, 50, 10, 20}, 1), elapsed_seconds);
}

TEST(NamedTime, Names) {
  for (const char* name : {"time", "Time", "time_s", "seconds", "time (s)"})
    EXPECT_TRUE(NamedTime::is_name(name, false)) << name;
  EXPECT_TRUE(NamedTime::is_name("epoch_time", true));
  for (const char* name : {"epoch_time", "data_time", "timestep", "eta"})
    EXPECT_FALSE(NamedTime::is_name(name, false)) << name;
}

}  // namespace trainwatch::testing::named_time_test

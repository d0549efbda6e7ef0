// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/adaptive_interval.h"

#include <gtest/gtest.h>

namespace trainwatch::test::adaptive_interval_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(AdaptiveIntervalTest, IsNoShorterThanTheLeastAndNoLongerThanTheMost) {
  AdaptiveInterval polls(milliseconds(250), 20, seconds(10));
  const AdaptiveInterval::TimePoint now{seconds(100)};
  EXPECT_LT(polls.next(), now) << "due at once";
  polls.done(now, milliseconds(1));
  EXPECT_EQ(polls.next() - now, milliseconds(250));
  polls.done(now, milliseconds(100));
  EXPECT_EQ(polls.next() - now, seconds(2)) << "a twentieth of a core";
  polls.done(now, seconds(60));
  EXPECT_EQ(polls.next() - now, seconds(10));
}

TEST(AdaptiveIntervalTest, AnIntervalLongerThanTheMostIsKept) {
  AdaptiveInterval polls(seconds(60), 20, seconds(10));
  const AdaptiveInterval::TimePoint now{seconds(100)};
  polls.done(now, milliseconds(1));
  EXPECT_EQ(polls.next() - now, seconds(60));
}

}  // namespace trainwatch::test::adaptive_interval_test

// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/compact_duration.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/saved_state.h"

namespace trainwatch::compact_duration_test {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;

Nanos stored(Nanos duration) {
  return CompactDuration(duration).value();
}

TEST(CompactDuration, MicrosecondsAreExactUpToHalfAnHour) {
  static_assert(sizeof(CompactDuration) == 4);
  for (const Nanos exact : {Nanos{}, Nanos{microseconds(1)}, Nanos{microseconds(999'999)},
                            Nanos{minutes(35)} + microseconds(1)}) {
    EXPECT_EQ(stored(exact), exact);
  }
  EXPECT_EQ(stored(Nanos{1'400}), microseconds(1));
  EXPECT_EQ(stored(Nanos{1'600}), microseconds(2));
}

TEST(CompactDuration, LongerOnesAreExactToTheMillisecond) {
  for (const Nanos exact :
       {Nanos{minutes(36)}, Nanos{hours(7) + milliseconds(1)}, Nanos{days(24)}}) {
    EXPECT_EQ(stored(exact), exact);
    EXPECT_EQ(stored(exact + microseconds(900)), exact);
  }
}

TEST(CompactDuration, OthersAreTheNearestThatItHas) {
  EXPECT_EQ(stored(Nanos{-1}), Nanos{});
  EXPECT_EQ(stored(Nanos::min()), Nanos{});
  EXPECT_GT(stored(Nanos::max()), days(24));
}

TEST(CompactDuration, OrderAndStateAreThoseOfTheDuration) {
  CompactDuration before;
  for (const Nanos longer : {Nanos{microseconds(1)}, Nanos{minutes(35)}, Nanos{minutes(36)},
                             Nanos{hours(1)}, Nanos{days(1)}}) {
    CompactDuration duration(longer);
    EXPECT_LT(before, duration);
    CompactDuration restored;
    EXPECT_TRUE(test::load_state(test::saved_state(duration), restored));
    EXPECT_EQ(restored, duration);
    before = duration;
  }
}

}  // namespace trainwatch::compact_duration_test

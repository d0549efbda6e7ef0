// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/daemon_clock.h"

#include <gtest/gtest.h>

namespace trainwatch::daemon_clock_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DaemonClock, IsNotMovedByTheHostsClock) {
  const DaemonClock::Steady start{};
  const Time wall{hours(500'000)};
  DaemonClock clock(start, wall);
  clock.compare(start + seconds(1), wall + seconds(1) + milliseconds(300));
  EXPECT_EQ(clock.jumps_forward() + clock.jumps_back(), 0U);
  clock.compare(start + seconds(2), wall + hours(24));
  clock.compare(start + seconds(3), wall + hours(24) + seconds(1));
  EXPECT_EQ(clock.jumps_forward(), 1U);
  clock.compare(start + seconds(4), wall - hours(1));
  EXPECT_EQ(clock.jumps_back(), 1U);
  EXPECT_EQ(clock.at(start + seconds(5)), wall + seconds(5));
}

TEST(DaemonClock, IsNotAwakeWhileTheProcessIsSuspended) {
  const DaemonClock::Steady start{};
  const Time wall{hours(500'000)};
  DaemonClock clock(start, wall);
  EXPECT_EQ(clock.awake(), wall);
  clock.compare(start + seconds(1), wall + seconds(1));
  clock.compare(start + seconds(2), wall + hours(9));
  EXPECT_EQ(clock.awake(), wall + seconds(2));
  clock.compare(start + seconds(602), wall + hours(9) + seconds(600));
  EXPECT_EQ(clock.awake(), wall + seconds(4));
}

}  // namespace trainwatch::daemon_clock_test

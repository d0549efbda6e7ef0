// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/wake_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace trainwatch::wake_pace_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using TimePoint = WakePace::TimePoint;
using Duration = WakePace::Duration;

constexpr TimePoint kBegin{seconds(1000)};

struct Wakes {
  int count = 0;
  Duration longest{};  // that a write waited
  TimePoint last{};
};

// Something is written each `apart`, and the reader sees it as soon as it does not sleep.
Wakes wakes_during(WakePace& pace, TimePoint begin, Duration period, Duration apart) {
  Wakes wakes;
  for (TimePoint written = begin; written < begin + period; written += apart) {
    if (written < wakes.last) continue;  // it is read by then
    wakes.last = pace.next(std::max(written, pace.asleep_until()));
    wakes.longest = std::max(wakes.longest, wakes.last - written);
    ++wakes.count;
  }
  return wakes;
}

TEST(WakePace, TheFirstWriteAfterAPauseIsReadAtOnce) {
  WakePace pace;
  EXPECT_EQ(pace.next(kBegin), kBegin);
  EXPECT_EQ(pace.next(kBegin + milliseconds(30)), kBegin + milliseconds(30));
}

TEST(WakePace, RanksThatWriteOneAfterAnotherAreReadTogether) {
  WakePace pace;
  pace.next(kBegin);
  const TimePoint second = pace.next(kBegin + microseconds(20));
  EXPECT_EQ(second, kBegin + WakePace::kLeast);
  EXPECT_EQ(pace.next(second + microseconds(20)), second + WakePace::kLeast + WakePace::kGrowth);
}

TEST(WakePace, AJobThatWritesRarelyIsNeverLate) {
  WakePace pace;
  const Wakes wakes = wakes_during(pace, kBegin, seconds(10), milliseconds(5));
  EXPECT_EQ(wakes.count, 2000);
  EXPECT_EQ(wakes.longest, Duration{});
}

TEST(WakePace, AFastJobWakesItFiftyTimesASecond) {
  for (const Duration apart : {Duration(microseconds(100)), Duration(milliseconds(1))}) {
    WakePace pace;
    const Wakes wakes = wakes_during(pace, kBegin, seconds(10), apart);
    EXPECT_GE(wakes.count, 480);
    EXPECT_LE(wakes.count, 600);
    EXPECT_LE(wakes.longest, WakePace::kMost);
  }
}

TEST(WakePace, NothingWaitsLongerThanTheLongestDistance) {
  WakePace pace;
  TimePoint now = kBegin;
  for (int i = 0; i < 1000; ++i) {
    const TimePoint begin = pace.next(now);
    EXPECT_LE(begin - now, WakePace::kMost);
    now = begin + microseconds(10);
  }
}

TEST(WakePace, AfterAPauseItIsAsQuickAsAtFirst) {
  WakePace pace;
  TimePoint now = kBegin;
  for (int i = 0; i < 1000; ++i) now = pace.next(now);
  now += seconds(1);
  EXPECT_EQ(pace.next(now), now);
  EXPECT_EQ(pace.next(now), now + WakePace::kLeast);
}

TEST(WakePace, AfterABurstTheNextWriteIsReadAtOnce) {
  WakePace pace;
  TimePoint now = kBegin;
  for (int i = 0; i < 100; ++i) {
    const Wakes burst = wakes_during(pace, now, milliseconds(5), microseconds(50));
    EXPECT_LE(burst.count, 9);
    now += milliseconds(5 + 10);
    EXPECT_LE(pace.asleep_until(), now);
    EXPECT_EQ(pace.next(now), now) << i;
    now += milliseconds(1);
  }
}

TEST(WakePace, RanksThatWriteByChanceWakeItAtMostTwoHundredAndThirtyTimesASecond) {
  for (const int writes : {100, 200, 400, 1000}) {  // a second
    WakePace pace;
    std::mt19937 random(1);
    std::exponential_distribution<double> until_next(writes);
    int wakes = 0;
    TimePoint awake = kBegin;
    for (TimePoint written = kBegin; written < kBegin + seconds(10);) {
      written += std::chrono::ceil<Duration>(std::chrono::duration<double>(until_next(random)));
      if (written < awake) continue;
      awake = pace.next(std::max(written, pace.asleep_until()));
      ++wakes;
    }
    EXPECT_LE(wakes, 2300) << writes;
  }
}

}  // namespace trainwatch::wake_pace_test

#include "daemon/app/wake_pace.h"

#include <gtest/gtest.h>

namespace trainwatch::wake_pace_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using TimePoint = WakePace::TimePoint;

constexpr TimePoint kBegin{seconds(1000)};

// Wake-ups in ten seconds, when something is written each `apart`.
int wakes_in_ten_seconds(WakePace::Duration apart) {
  WakePace pace;
  int wakes = 0;
  TimePoint awake = kBegin;
  for (TimePoint written = kBegin; written < kBegin + seconds(10); written += apart) {
    if (written < awake) continue;  // it is read by then
    awake = pace.next(written);
    ++wakes;
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
  EXPECT_EQ(second, kBegin + WakePace::kApart);
  EXPECT_EQ(pace.next(second + microseconds(20)), second + WakePace::kApart);
}

TEST(WakePace, AJobThatWritesRarelyIsNeverLate) {
  EXPECT_EQ(wakes_in_ten_seconds(milliseconds(5)), 2000);
}

TEST(WakePace, AFastJobWakesItTwoHundredTimesASecond) {
  const int wakes = wakes_in_ten_seconds(microseconds(100));
  EXPECT_GE(wakes, 2000);
  EXPECT_LE(wakes, 2000 + 2 * WakePace::kBurst);
}

TEST(WakePace, NothingWaitsLongerThanTheSustainedPace) {
  WakePace pace;
  TimePoint now = kBegin;
  for (int i = 0; i < 1000; ++i) {
    const TimePoint begin = pace.next(now);
    EXPECT_LE(begin - now, WakePace::kSustained);
    now = begin + microseconds(10);
  }
}

TEST(WakePace, ABurstIsPossibleAgainAfterAPause) {
  WakePace pace;
  TimePoint now = kBegin;
  for (int i = 0; i < 1000; ++i) now = pace.next(now);
  now += seconds(1);
  for (int i = 0; i < WakePace::kBurst; ++i) {
    EXPECT_EQ(pace.next(now), now);
    now += WakePace::kApart;
  }
}

}  // namespace trainwatch::wake_pace_test

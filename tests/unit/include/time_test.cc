// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/time.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <limits>
#include <random>

namespace trainwatch::time_test {

TEST(Rfc3339, IsReadAsItIsPrinted) {
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{1'795'525'325'123'456'000}}) {
    EXPECT_EQ(time_from_rfc3339(to_rfc3339(time_from_ns(ns))), time_from_ns(ns));
  }
  EXPECT_EQ(time_from_rfc3339("2026-11-24T13:02:05Z"), time_from_ns(1'795'525'325'000'000'000));
  EXPECT_EQ(time_from_rfc3339("2026-11-24T13:02:05.5Z"), time_from_ns(1'795'525'325'500'000'000));
  EXPECT_EQ(time_from_rfc3339("2026-11-24T13:02:05.123456789Z"),
            time_from_ns(1'795'525'325'123'456'789));
}

TEST(Rfc3339, IsWhatTheLibraryPrints) {
  std::mt19937_64 random(1);
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
  std::uniform_int_distribution<std::int64_t> any(-kLatest, kLatest);
  for (int i = 0; i < 10'000; ++i) {
    const Time time = time_from_ns(any(random));
    const auto whole = std::chrono::floor<std::chrono::seconds>(time);
    const std::time_t seconds = whole.time_since_epoch().count();
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[48];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    const auto micros = std::chrono::floor<std::chrono::microseconds>(time - whole).count();
    std::snprintf(text + size, sizeof text - size, ".%06dZ", static_cast<int>(micros));
    ASSERT_EQ(to_rfc3339(time), text);
  }
  EXPECT_EQ(to_rfc3339(kNoTime), "");
}

TEST(Rfc3339, AnythingElseIsNoTime) {
  for (const char* const text :
       {"", "Z", "2026-11-24T13:02:05", "2026-11-24 13:02:05Z", "2026-13-24T13:02:05Z",
        "2026-02-30T13:02:05Z", "2026-11-24T24:02:05Z", "2026-11-24T13:02:05.x5Z",
        "2026-11-24T13:02:05+01:00", "x026-11-24T13:02:05Z", "9999-11-24T13:02:05Z"}) {
    EXPECT_EQ(time_from_rfc3339(text), kNoTime) << text;
  }
}

}  // namespace trainwatch::time_test

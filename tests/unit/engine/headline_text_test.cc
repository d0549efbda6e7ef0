// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/headline_text.h"

#include <gtest/gtest.h>

namespace trainwatch::headline_text_test {

using namespace std::chrono_literals;

// 2026-11-24 13:02:05 UTC
constexpr Time kNoon = time_from_ns(1'795'525'325'000'000'000);
const Zone kParis{"CET", 1h};

TEST(HeadlineText, GroupsDigits) {
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(999), "999");
  EXPECT_EQ(grouped_digits(12345), "12,345");
  EXPECT_EQ(grouped_digits(1234567), "1,234,567");
  EXPECT_EQ(grouped_digits(-1000), "-1,000");
}

TEST(HeadlineText, DurationsHaveOneOrTwoUnits) {
  EXPECT_EQ(duration_words(-5s), "0 s");
  EXPECT_EQ(duration_words(40ms), "0.04 s");
  EXPECT_EQ(duration_words(3400ms), "3.4 s");
  EXPECT_EQ(duration_words(119s), "119 s");
  EXPECT_EQ(duration_words(121s), "2 min");
  EXPECT_EQ(duration_words(38min + 59s), "38 min");
  EXPECT_EQ(duration_words(72min), "1 h 12 min");
  EXPECT_EQ(duration_words(2h), "2 h");
  EXPECT_EQ(duration_words(76h + 5min), "3 d 4 h");
}

TEST(HeadlineText, Figures) {
  EXPECT_EQ(gpu_time_words(12), "12 GPU seconds");
  EXPECT_EQ(gpu_time_words(41 * 60), "41 GPU minutes");
  EXPECT_EQ(gpu_time_words(3.4 * 3600), "3.4 GPU hours");
  EXPECT_EQ(rate_words(1 / 4.2), "4.2 steps/s");
  EXPECT_EQ(rate_words(0.01), "100 steps/s");
  EXPECT_EQ(rate_words(2.5), "2.5 s per step");
  EXPECT_EQ(share_words(0.312), "31 %");
  EXPECT_EQ(share_words(0.002), "below 1 %");
  EXPECT_EQ(share_words(1.7), "100 %");
}

TEST(HeadlineText, ClockTimesHaveTheirZoneAndTheDateThatIsNotToday) {
  EXPECT_EQ(clock_words(kNoon, kNoon + 38min, kParis), "14:02 CET");
  EXPECT_EQ(clock_words(kNoon, kNoon + 12s, kParis), "14:02:05 CET");
  EXPECT_EQ(clock_words(kNoon, kNoon + 11h, kParis), "24 Nov 14:02 CET");
  EXPECT_EQ(clock_words(kNoon, kNoon + 60 * 24h, {}), "24 Nov 2026 13:02 UTC");
  EXPECT_EQ(clock_words(kNoon - 20 * 24h, kNoon, {}), "4 Nov 13:02 UTC");
  EXPECT_EQ(clock_words(kNoon - 268 * 24h, kNoon, {}), "1 Mar 2026 13:02 UTC");
}

TEST(HeadlineText, FillsPlaceholders) {
  EXPECT_EQ(fill_headline("Slow: since {since} ({for}) x.", kNoon, kNoon + 38min, kParis),
            "Slow: since 14:02 CET (38 min) x.");
  EXPECT_EQ(fill_headline("Running.", kNoTime, kNoon, kParis), "Running.");
  EXPECT_EQ(fill_headline("Slow: since {since} ({for}) x.", kNoon, kNoon + 38min, kParis,
                          kNoon + 60 * 24h),
            "Slow: since 24 Nov 2026 14:02 CET (38 min) x.");
}

}  // namespace trainwatch::headline_text_test

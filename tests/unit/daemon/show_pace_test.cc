// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/show_pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace trainwatch::show_pace_test {

// In so many seconds, in each of which so many bytes come, or nothing.
int shown_in(ShowPace& pace, int seconds, std::optional<std::uint64_t> bytes) {
  int shown = 0;
  for (int i = 0; i < seconds; ++i) {
    if (bytes) pace.read(*bytes);
    pace.second_passed();
    if (!pace.is_due()) continue;
    pace.shown({});
    ++shown;
  }
  return shown;
}

TEST(ShowPace, WhatDoesNotChangeIsShownNowAndThen) {
  ShowPace pace;
  pace.set_audience(true);
  EXPECT_EQ(shown_in(pace, ShowPace::kSettled, {}), ShowPace::kSettled);
  EXPECT_EQ(shown_in(pace, 60 - ShowPace::kSettled, {}), 12);
  EXPECT_EQ(shown_in(pace, 1, 0), 1);
  EXPECT_EQ(shown_in(pace, ShowPace::kSettled - 1, {}), ShowPace::kSettled - 1);
}

TEST(ShowPace, WhatNobodyLooksAtIsShownNowAndThen) {
  ShowPace pace;
  EXPECT_EQ(shown_in(pace, ShowPace::kLooks, 100), ShowPace::kLooks) << "after the start";
  EXPECT_EQ(shown_in(pace, 60, 100), 6);
  pace.asked();
  EXPECT_EQ(shown_in(pace, ShowPace::kLooks, 100), ShowPace::kLooks);
  EXPECT_EQ(shown_in(pace, 60, 100), 6);
  EXPECT_EQ(shown_in(pace, 10, ShowPace::kBusy), 10) << "a question would wait for its turn";
}

TEST(ShowPace, WhoAsksTwiceInHalfASecondGetsTheSame) {
  ShowPace pace;
  const ShowPace::TimePoint now{std::chrono::seconds(100)};
  EXPECT_FALSE(pace.is_fresh(now));
  pace.shown(now);
  EXPECT_TRUE(pace.is_fresh(now + std::chrono::milliseconds(499)));
  EXPECT_FALSE(pace.is_fresh(now + ShowPace::kFresh));
}

}  // namespace trainwatch::show_pace_test

// SPDX-License-Identifier: Apache-2.0
// Case 88: a flood of the daemon's own errors.
#include "daemon/log_limiter.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::log_limiter_test {

constexpr LogLimiter::Clock::time_point kStart{};
constexpr auto kSecond = std::chrono::seconds(1);

TEST(LogLimiter, LeavesOutARepeatedMessageAndCountsIt) {
  LogLimiter limiter;
  std::uint64_t admitted = 0;
  for (int i = 0; i < 1000; ++i) {
    if (limiter.admit("cannot store", kStart + i * std::chrono::milliseconds(10))) ++admitted;
  }
  EXPECT_EQ(admitted, LogLimiter::kLines);
  EXPECT_TRUE(limiter.admit("another", kStart + 10 * kSecond));
  EXPECT_TRUE(limiter.take_ended(kStart + LogLimiter::kWindow - kSecond).empty());
  const auto left_out = limiter.take_ended(kStart + LogLimiter::kWindow);
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out[0].message, "cannot store");
  EXPECT_EQ(left_out[0].lines, 1000 - LogLimiter::kLines);
  EXPECT_TRUE(limiter.admit("cannot store", kStart + LogLimiter::kWindow));
}

TEST(LogLimiter, SaysNothingOfWhatWasWritten) {
  LogLimiter limiter;
  for (std::uint64_t i = 0; i < LogLimiter::kLines; ++i) limiter.admit("once more", kStart);
  EXPECT_TRUE(limiter.take_ended(kStart + LogLimiter::kWindow).empty());
}

TEST(LogLimiter, HoldsABoundedNumberOfMessages) {
  LogLimiter limiter;
  std::uint64_t admitted = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (limiter.admit("message " + std::to_string(i), kStart)) ++admitted;
  }
  EXPECT_EQ(admitted, LogLimiter::kMessages + LogLimiter::kLines);
  const auto left_out = limiter.take_ended(kStart + LogLimiter::kWindow);
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out[0].lines, 100'000 - admitted);
}

}  // namespace trainwatch::log_limiter_test

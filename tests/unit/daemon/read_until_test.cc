// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/read_until.h"

#include <gtest/gtest.h>

namespace trainwatch::read_until_test {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr ReadUntil::Time kStart{std::chrono::hours(1)};

TEST(ReadUntil, IsTheBeginningOfTheLastCompletePass) {
  ReadUntil until(kStart);
  until.complete_pass(kStart + seconds(3), seconds(0));
  EXPECT_EQ(until.time(), kStart + seconds(3));
}

TEST(ReadUntil, WaitsForAFileSystemThatDoesNotAnswerButNotForEver) {
  ReadUntil until(kStart);
  for (int second = 0; second < 60; ++second) {
    until.complete_pass(kStart + seconds(second), seconds(second + 1) / 2 + seconds(1));
  }
  EXPECT_EQ(until.time(), kStart);
  until.complete_pass(kStart + minutes(1), minutes(1));
  EXPECT_EQ(until.time(), kStart + minutes(1));
  until.complete_pass(kStart + minutes(2), minutes(2));
  EXPECT_EQ(until.time(), kStart + minutes(2));
}

}  // namespace trainwatch::read_until_test

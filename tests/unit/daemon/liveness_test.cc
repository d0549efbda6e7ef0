// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/liveness.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Due = Liveness::Due;

const Liveness::Clock::time_point kStart{std::chrono::hours(1)};

TEST(Liveness, GivesUpAfterTwoPingsWithoutAnAnswer) {
  Liveness liveness(kStart);
  std::vector<Due> due;
  for (int second = 10; second <= 40; second += 5) {
    due.push_back(liveness.due(kStart + seconds(second), seconds(10)));
  }
  EXPECT_EQ(due, (std::vector{Due::nothing, Due::ping, Due::nothing, Due::ping, Due::nothing,
                              Due::give_up, Due::give_up}));
}

TEST(Liveness, AnAnswerBeginsAnew) {
  Liveness liveness(kStart);
  EXPECT_EQ(liveness.due(kStart + seconds(11), seconds(10)), Due::ping);
  EXPECT_EQ(liveness.due(kStart + seconds(21), seconds(10)), Due::ping);
  EXPECT_FALSE(liveness.heard(kStart + seconds(22), 5));
  EXPECT_EQ(liveness.due(kStart + seconds(32), seconds(10)), Due::nothing);
  EXPECT_EQ(liveness.due(kStart + seconds(33), seconds(10)), Due::ping);
}

TEST(Liveness, SaysOnceInASecondThatAClientSaysTooMuch) {
  Liveness liveness(kStart);
  std::vector<bool> too_much;
  for (int i = 0; i < 12; ++i) {
    too_much.push_back(liveness.heard(kStart + milliseconds(200 * i), 3));
  }
  EXPECT_EQ(too_much, (std::vector<bool>{false, false, false, true, false, false, false, false,
                                         true, false, false, false}));
}

}  // namespace
}  // namespace trainwatch

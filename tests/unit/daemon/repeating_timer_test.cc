// SPDX-License-Identifier: Apache-2.0
#include "daemon/repeating_timer.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <chrono>

#include "tests/support/patience.h"

namespace trainwatch::repeating_timer_test {

using std::chrono::milliseconds;

TEST(RepeatingTimer, CallsUntilItIsStoppedFromWithin) {
  boost::asio::io_context context{1};
  RepeatingTimer timer(context);
  int calls = 0;
  timer.start(milliseconds(1), [&] {
    if (++calls == 3) timer.stop();
  });
  context.run_for(kPatience);
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(calls, 3);
}

TEST(RepeatingTimer, IsStoppedWhileItWaits) {
  boost::asio::io_context context{1};
  RepeatingTimer timer(context);
  int calls = 0;
  timer.start(std::chrono::hours(1), [&] { ++calls; });
  boost::asio::post(context, [&] { timer.stop(); });
  context.run_for(kPatience);
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(calls, 0);
}

// Two waits expire together, so both handlers are queued when the first of them stops the timer.
TEST(RepeatingTimer, IsStoppedWhileItsHandlerIsQueued) {
  boost::asio::io_context context{1};
  RepeatingTimer timer(context);
  int calls = 0;
  boost::asio::steady_timer stopper(context, milliseconds(-1));
  stopper.async_wait([&](boost::system::error_code) { timer.stop(); });
  timer.start(milliseconds(0), [&] { ++calls; });
  context.run_for(kPatience);
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(calls, 0);
}

}  // namespace trainwatch::repeating_timer_test

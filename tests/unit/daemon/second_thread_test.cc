// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/second_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

namespace trainwatch::second_thread_test {

TEST(SecondThread, BothRunAtTheSameTime) {
  SecondThread second(2);
  for (int i = 0; i < 100; ++i) {
    std::promise<void> beside_runs;
    std::promise<void> here_runs;
    second.run_both(
        [&] {
          beside_runs.set_value();
          here_runs.get_future().wait();
        },
        [&] {
          here_runs.set_value();
          beside_runs.get_future().wait();
        });
  }
}

TEST(SecondThread, WhatBothDidIsVisibleAfterwards) {
  SecondThread second(2);
  std::thread::id beside;
  int done = 0;
  for (int i = 0; i < 1000; ++i) {
    second.run_both([&] { beside = std::this_thread::get_id(), ++done; }, [] {});
  }
  EXPECT_EQ(done, 1000);
  EXPECT_NE(beside, std::this_thread::get_id());
}

TEST(SecondThread, OneProcessorDoesOneAfterTheOther) {
  SecondThread second(1);
  std::string order;
  second.run_both([&] { order += "beside"; }, [&] { order += "here "; });
  EXPECT_EQ(order, "here beside");
}

TEST(SecondThread, EndsWithoutHavingBegun) {
  const SecondThread second(2);
}

}  // namespace trainwatch::second_thread_test

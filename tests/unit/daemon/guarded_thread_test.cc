// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/guarded_thread.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "daemon/app/process_setup.h"
#include "daemon/exit_code.h"

namespace trainwatch::guarded_thread_test {

template <class Work>
void run_thread(Work work) {
  std::thread([&work] { run_guarded("reader", work); }).join();
}

const auto kFailed = testing::ExitedWithCode(exit_code::failed);

TEST(GuardedThread, RunsItsWork) {
  bool done = false;
  run_thread([&done] { done = true; });
  EXPECT_TRUE(done);
}

TEST(GuardedThread, SaysWhatEndedIt) {
  EXPECT_EXIT(run_thread([] { throw std::runtime_error("bad file"); }), kFailed,
              "trainwatch: the reader thread failed: bad file; exiting");
  EXPECT_EXIT(run_thread([] { throw 1; }), kFailed, "the reader thread failed: unknown exception");
}

// Case 74: memory that cannot be had.
TEST(GuardedThread, SaysThatMemoryRanOut) {
  EXPECT_EXIT(run_thread([] { throw std::bad_alloc(); }), kFailed,
              "the reader thread failed: std::bad_alloc");
}

TEST(GuardedThread, CutsALongMessage) {
  EXPECT_EXIT(run_thread([] { throw std::runtime_error(std::string(100'000, 'm')); }), kFailed,
              "failed: mmmm");
}

TEST(GuardedThread, SaysWhatADestructorThrew) {
  struct Thrower {
    ~Thrower() noexcept(false) { throw std::runtime_error("in a destructor"); }
  };
  const auto terminate = [] {
    say_why_at_termination();
    std::thread([]() noexcept { const Thrower thrower; }).join();
  };
  EXPECT_EXIT(terminate(), kFailed, "in a destructor");
}

}  // namespace trainwatch::guarded_thread_test

// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/decoding_mark.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "daemon/app/guarded_thread.h"
#include "daemon/exit_code.h"
#include "tests/support/temp_directory.h"

namespace trainwatch::decoding_mark_test {

using Death = std::function<void(DecodingMark&)>;

// What a process leaves that dies of `death` while it decodes.
void decode_and_die(const std::string& directory, const Death& death) {
  DecodingMark mark;
  ASSERT_TRUE(mark.open(directory).ok());
  { const WatchedDecode good(&mark.reader(), "/job/good.log", 0, 10); }
  run_guarded("engine", [&] {
    const WatchedDecode bad(&mark.engine(), "/job/bad.gz", 4096, 8192);
    death(mark);
  });
}

// By a signal, or, with a sanitizer that handles it, by an exit.
bool failed(int status) {
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

void expect_bad_file(const std::string& directory) {
  DecodingMark mark;
  const auto left = mark.open(directory);
  ASSERT_TRUE(left.ok()) << left.error().message;
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().path, "/job/bad.gz");
  EXPECT_EQ(left->front().from, 4096U);
  EXPECT_EQ(left->front().to, 8192U);
  DecodingMark next;
  EXPECT_TRUE(next.open(directory)->empty()) << "said once";
}

int fill_stack(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : fill_stack(depth + 1) + frame[0];
}

TEST(DecodingMark, OutlivesAFault) {
  const std::vector<Death> deaths = {
      [](DecodingMark&) { std::raise(SIGSEGV); }, [](DecodingMark&) { std::raise(SIGBUS); },
      [](DecodingMark&) { std::abort(); }, [](DecodingMark&) { fill_stack(0); }};
  for (const Death& death : deaths) {
    const test::TempDirectory directory;
    EXPECT_EXIT(decode_and_die(directory.path(), death), failed, "");
    expect_bad_file(directory.path());
  }
}

// As the kernel kills who takes all memory, which takes time.
TEST(DecodingMark, OutlivesAKillOnceItHasTakenLong) {
  const test::TempDirectory directory;
  const auto take_long = [](DecodingMark& mark) {
    mark.look();
    mark.look();
    std::raise(SIGKILL);
  };
  EXPECT_EXIT(decode_and_die(directory.path(), take_long), failed, "");
  expect_bad_file(directory.path());
}

TEST(DecodingMark, AKillAtAnyMomentIsNoDeathByAFile) {
  const Death early = [](DecodingMark& mark) {
    mark.look();
    std::raise(SIGKILL);
  };
  const Death between_files = [](DecodingMark& mark) {
    mark.look();
    mark.look();
    mark.engine().ended();
    mark.look();
    std::raise(SIGKILL);
  };
  const Death at_the_next = [](DecodingMark& mark) {
    mark.look();
    mark.engine().begins("/job/good.log", 0, 10);
    mark.look();
    std::raise(SIGKILL);
  };
  for (const Death& death : {early, between_files, at_the_next}) {
    const test::TempDirectory directory;
    EXPECT_EXIT(decode_and_die(directory.path(), death), failed, "");
    DecodingMark mark;
    EXPECT_TRUE(mark.open(directory.path())->empty());
  }
}

TEST(DecodingMark, OutlivesMemoryThatCannotBeHad) {
  const test::TempDirectory directory;
  const auto fail = [](DecodingMark&) { throw std::bad_alloc(); };
  EXPECT_EXIT(decode_and_die(directory.path(), fail), testing::ExitedWithCode(exit_code::failed),
              "bad_alloc");
  expect_bad_file(directory.path());
}

TEST(DecodingMark, AnOrderlyEndLeavesNothing) {
  const test::TempDirectory directory;
  {
    DecodingMark mark;
    ASSERT_TRUE(mark.open(directory.path()).ok());
    mark.engine().begins("/job/good.log", 0, 10);
    mark.look();
    mark.look();
    mark.engine().ended();
  }
  DecodingMark mark;
  EXPECT_TRUE(mark.open(directory.path())->empty());
}

TEST(DecodingMark, MarksNothingWhereItCannotBeMade) {
  DecodingMark mark;
  EXPECT_FALSE(mark.open("/nowhere").ok());
  mark.engine().begins("/job/good.log", 0, 10);
  mark.engine().ended();
}

}  // namespace trainwatch::decoding_mark_test

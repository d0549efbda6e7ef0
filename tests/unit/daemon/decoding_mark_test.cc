// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/decoding_mark.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "daemon/app/guarded_thread.h"
#include "daemon/exit_code.h"
#include "tests/support/temp_directory.h"

namespace trainwatch::decoding_mark_test {

// What a process leaves that dies of `death` while it decodes.
void decode_and_die(const std::string& directory, const std::function<void()>& death) {
  DecodingMark mark;
  ASSERT_TRUE(mark.open(directory).ok());
  mark.reader().begins("/job/good.log", 0, 10);
  mark.reader().ended();
  mark.engine().begins("/job/bad.gz", 4096, 8192);
  run_guarded("engine", death);
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

TEST(DecodingMark, OutlivesASignal) {
  for (const int signal : {SIGSEGV, SIGKILL, SIGABRT}) {
    const test::TempDirectory directory;
    EXPECT_EXIT(decode_and_die(directory.path(), [signal] { std::raise(signal); }),
                testing::KilledBySignal(signal), "");
    expect_bad_file(directory.path());
  }
}

TEST(DecodingMark, OutlivesMemoryThatCannotBeHad) {
  const test::TempDirectory directory;
  const auto fill_memory = [] {
    const rlimit little{std::size_t{1} << 30U, std::size_t{1} << 30U};
    ::setrlimit(RLIMIT_DATA, &little);
    std::vector<std::string> held;
    for (;;) held.emplace_back(std::size_t{16} << 20U, 'x');
  };
  EXPECT_EXIT(decode_and_die(directory.path(), fill_memory),
              testing::ExitedWithCode(exit_code::failed), "bad_alloc");
  expect_bad_file(directory.path());
}

TEST(DecodingMark, OfAProcessThatEndsBetweenFilesNothingIsLeft) {
  const test::TempDirectory directory;
  const auto decode_and_end = [&directory] {
    DecodingMark mark;
    (void)mark.open(directory.path());
    mark.engine().begins("/job/good.log", 0, 10);
    mark.engine().ended();
    std::raise(SIGKILL);
  };
  EXPECT_EXIT(decode_and_end(), testing::KilledBySignal(SIGKILL), "");
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

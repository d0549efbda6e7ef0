// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <vector>

#include "commands/commands.h"
#include "commands/sample/interval_loop.h"

namespace trainwatch::sample_loop_test {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(IntervalLoop, TicksAtOnceAndThenByTheIntervalWithoutDrift) {
  std::vector<Nanos> ticks;
  const LoopLimits limits{milliseconds{5}, milliseconds{25}, 0};
  ASSERT_TRUE(run_at_interval(limits, [&](Nanos now) {
    ticks.push_back(now);
    return success();
  }));
  ASSERT_GE(ticks.size(), 2U);
  EXPECT_LE(ticks.size(), 6U);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    EXPECT_GE(ticks[i] - ticks.front(), milliseconds{5} * static_cast<std::int64_t>(i));
  }
}

TEST(IntervalLoop, StopsOnASignalAndLeavesNoneBehind) {
  int ticks = 0;
  ASSERT_TRUE(run_at_interval({hours{1}, {}, 0}, [&](Nanos) {
    ++ticks;
    raise(SIGTERM);
    return success();
  }));
  EXPECT_EQ(ticks, 1);
}

TEST(IntervalLoop, StopsWhenTheProcessEnds) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte;
    close(gate[1]);
    _exit(read(gate[0], &byte, 1) < 0);
  }
  close(gate[0]);
  EXPECT_TRUE(run_at_interval({hours{1}, {}, child}, [&](Nanos) {
    close(gate[1]);
    return success();
  }));
  waitpid(child, nullptr, 0);
}

TEST(IntervalLoop, AProcessThatIsNotThereIsAnError) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const Status ended = run_at_interval({hours{1}, {}, child}, [](Nanos) { return success(); });
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().message.find("No such process"), std::string::npos);
}

TEST(IntervalLoop, AFailingTickEndsIt) {
  EXPECT_FALSE(
      run_at_interval({hours{1}, {}, 0}, [](Nanos) -> Status { return Error{"disk full"}; }));
}

TEST(Sample, WritesFilesOfThisMachine) {
  SampleOptions options;
  options.out = testing::TempDir() + "sample_here";
  options.interval = milliseconds{20};
  options.duration = milliseconds{60};
  options.node = "here-1";
  std::filesystem::remove_all(options.out);
  std::ostringstream err;
  ASSERT_EQ(sample(options, err), 0) << err.str();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options.out)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_GT(entry.file_size(), 100U);
    EXPECT_TRUE(entry.path().string().ends_with(".here-1.json"));
  }
  EXPECT_GE(files, 1U);
  std::filesystem::remove_all(options.out);
}

TEST(Sample, SaysOnceWhatItCannotDoAndFailsWithOne) {
  SampleOptions options;
  options.proc = "/nonexistent";
  std::ostringstream err;
  EXPECT_EQ(sample(options, err), 1);
  EXPECT_NE(err.str().find("cannot read /nonexistent/stat"), std::string::npos);
}

}  // namespace trainwatch::sample_loop_test

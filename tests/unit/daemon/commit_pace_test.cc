// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/commit_pace.h"

#include <gtest/gtest.h>

#include <utility>

namespace trainwatch::commit_pace_test {

using std::chrono::milliseconds;

constexpr CommitPace::TimePoint at(int ms) {
  return CommitPace::TimePoint{milliseconds(10'000 + ms)};
}

// In so many seconds, in each of which so many bytes come; 0: nothing comes.
int commits_in(int seconds, std::uint64_t bytes) {
  CommitPace pace;
  int commits = 0;
  for (int i = 0; i < seconds; ++i) {
    if (bytes > 0) pace.read(bytes);
    pace.second_passed();
    if (!pace.second_is_due()) continue;
    ++commits;
    pace.committed(at(0), at(0));
  }
  return commits;
}

TEST(CommitPace, IsDueAfterEightMebibytes) {
  CommitPace pace;
  pace.read(CommitPace::kBytes - 1);
  EXPECT_FALSE(pace.bytes_are_due());
  pace.read(1);
  EXPECT_TRUE(pace.bytes_are_due());
  EXPECT_TRUE(pace.may_commit(at(0)));
  pace.committed(at(0), at(1));
  EXPECT_FALSE(pace.bytes_are_due());
}

// 10,000 ranks: each commit took a second and a half, and was followed by the next.
TEST(CommitPace, CommitsTakeATwentiethOfTheTimeAtMost) {
  CommitPace pace;
  pace.committed(at(0), at(500));
  EXPECT_FALSE(pace.may_commit(at(1000)));
  EXPECT_FALSE(pace.may_commit(at(9999)));
  EXPECT_TRUE(pace.may_commit(at(10'000)));
}

TEST(CommitPace, AQuickCommitDelaysNothing) {
  CommitPace pace;
  pace.committed(at(0), at(2));
  EXPECT_TRUE(pace.may_commit(at(40)));
}

TEST(CommitPace, AlertsAreCommittedAtOnceUnlessMoreInputWaits) {
  CommitPace pace;
  pace.committed(at(0), at(2));
  EXPECT_TRUE(pace.may_commit_alerts(at(3), false));
  EXPECT_FALSE(pace.may_commit_alerts(at(101), true));
  EXPECT_TRUE(pace.may_commit_alerts(at(102), true));
  pace.committed(at(1000), at(1020));
  EXPECT_FALSE(pace.may_commit_alerts(at(1399), true)) << "a twentieth of the time";
  EXPECT_TRUE(pace.may_commit_alerts(at(1400), true));
  pace.committed(at(2000), at(2500));
  EXPECT_TRUE(pace.may_commit_alerts(at(3500), true)) << "a second at most";
}

TEST(CommitPace, MemoryIsGivenBackOnceForSoMuchInput) {
  CommitPace pace;
  pace.read(CommitPace::kTrim - 1);
  EXPECT_FALSE(pace.take_trim()) << "not committed yet";
  pace.committed(at(0), at(1));
  EXPECT_FALSE(pace.take_trim());
  pace.read(1);
  pace.committed(at(2), at(3));
  pace.committed(at(4), at(5));
  EXPECT_TRUE(pace.take_trim());
  EXPECT_FALSE(pace.take_trim());
}

TEST(CommitPace, MemoryIsGivenBackOnceNothingComes) {
  CommitPace pace;
  pace.read(CommitPace::kTrimQuiet);
  pace.second_passed();
  EXPECT_FALSE(pace.take_trim()) << "more may come";
  pace.second_passed();
  EXPECT_TRUE(pace.take_trim());
  EXPECT_FALSE(pace.take_trim());
  pace.read(CommitPace::kTrimQuiet - 1);
  pace.second_passed();
  pace.second_passed();
  EXPECT_FALSE(pace.take_trim()) << "not worth it";
}

TEST(CommitPace, TheClockAloneIsWorthACommitNowAndThen) {
  EXPECT_EQ(commits_in(60, 0), 6);
  EXPECT_EQ(commits_in(60, 1), 6) << "while input comes";
}

}  // namespace trainwatch::commit_pace_test

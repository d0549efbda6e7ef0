// SPDX-License-Identifier: Apache-2.0
// The recorded job, written live in random pieces with the writers interleaved at random, gives the
// same alerts as the finished files: the same ids, the same final content, the same order within a
// subject. The real tailer, decoders and engine; no sleeping, no clock.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/live_player.h"
#include "support/source_path.h"
#include "support/temp_directory.h"
#include "support/watcher.h"

namespace trainwatch::live_equals_replay_test {

using namespace test;

const std::filesystem::path kRecordedJob = source_path("tests/data/recorded-job");

std::vector<AlertLine> replayed() {
  return Watcher(kRecordedJob.string()).finish();
}

std::vector<AlertLine> played_live(unsigned seed) {
  TempDirectory target;
  LivePlayer player(kRecordedJob, target.path(), seed);
  std::minstd_rand random(seed);
  Watcher watcher(target.path(), 1 + random() % 100000);
  while (player.step()) {
    if (random() % 3 == 0) watcher.look(random() % 2 == 0 ? SIZE_MAX : 1 + random() % 4);
    if (random() % 50 == 0) watcher.tick();
  }
  return watcher.finish();
}

void expect_the_same(const std::vector<AlertLine>& alerts, const std::vector<AlertLine>& expected,
                     unsigned seed) {
  const auto final = final_alerts(alerts);
  const auto expected_final = final_alerts(expected);
  ASSERT_FALSE(expected_final.empty());
  ASSERT_EQ(final.size(), expected_final.size()) << "seed " << seed;
  for (const auto& [id, alert] : expected_final) {
    ASSERT_TRUE(final.contains(id)) << "seed " << seed << " lacks " << alert.json;
    ASSERT_EQ(final.at(id).json, alert.json) << "seed " << seed;
  }
  ASSERT_EQ(order_by_subject(alerts), order_by_subject(expected)) << "seed " << seed;
}

TEST(LiveEqualsReplay, OnTheRecordedJob) {
  const auto expected = replayed();
  for (unsigned seed = 1; seed <= 100; ++seed) expect_the_same(played_live(seed), expected, seed);
}

TEST(LiveEqualsReplay, AReplayInAnyChunksIsTheSame) {
  const auto expected = replayed();
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::minstd_rand random(seed);
    const std::size_t chunk = seed % 2 == 0 ? 1 + random() % 500 : 1 + random() % 300000;
    expect_the_same(Watcher(kRecordedJob.string(), chunk).finish(), expected, seed);
  }
}

}  // namespace trainwatch::live_equals_replay_test

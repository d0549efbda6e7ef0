// SPDX-License-Identifier: Apache-2.0
// What was silent for long is forgotten, and nobody else notices: a job that is written meanwhile
// gives the alerts of a replay, and the tables never fill up with jobs of the past.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "daemon/app/watch_roots.h"
#include "pipeline/state/durable_pipeline.h"
#include "pipeline/tail/posix_file_system.h"
#include "rules/catalog.h"
#include "support/live_player.h"
#include "support/memory_store.h"
#include "support/source_path.h"
#include "support/temp_directory.h"
#include "support/watcher.h"

namespace trainwatch::ageing_test {

using namespace test;

const std::filesystem::path kRecordedJob = source_path("tests/data/recorded-job");

// Some metrics of a node of its own.
std::string metrics_of(int node) {
  std::string text;
  for (int second = 0; second < 3; ++second) {
    const std::string time = std::to_string(1591160000 + 10 * node + second);
    text +=
        R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.5,"NodeId":"old-)" +
        std::to_string(node) + R"(","Timestamp":)" + time + ".5}\n";
  }
  return text;
}

// A watcher with a store, so that it can forget.
class AgeingWatcher {
 public:
  explicit AgeingWatcher(const std::string& directory, IngestOptions options)
      : pipeline_(Config(rule_catalog()).enabled_rules(), std::move(options), store_),
        files_({{directory, directory}}),
        tailer_(files_, {{directory, directory}}, {}) {}

  void look() {
    tailer_.scan(pipeline_.sink(), now_ += std::chrono::seconds(1));
    while (tailer_.read(pipeline_.sink())) {
    }
    for (const Alert& alert : pipeline_.engine().take_emitted()) lines_ += to_json(alert) + '\n';
  }
  bool next_round() { return pipeline_.next_round(); }
  std::vector<AlertLine> finish() {
    look();
    pipeline_.ingest().end_of_input();
    look();
    return parse_alerts(lines_);
  }
  DurablePipeline& pipeline() { return pipeline_; }

 private:
  MemoryStore store_{"epoch"};
  DurablePipeline pipeline_;
  PosixFileSystem files_;
  Tailer tailer_;
  ScanTime now_{};
  std::string lines_;
};

IngestOptions options_of(const std::string& directory) {
  return replay_input({directory}, Config(rule_catalog()));
}

int series_of_old(const Engine& engine) {
  std::vector<MetricFamily> families;
  engine.collect_metrics(Cardinality::full, families);
  int found = 0;
  for (const MetricFamily& family : families) {
    for (const MetricPoint& point : family.points) {
      for (const auto& [name, value] : point.labels) found += value.starts_with("old-") ? 1 : 0;
    }
  }
  return found;
}

std::size_t points_of(const Engine& engine, std::string_view family_name) {
  std::vector<MetricFamily> families;
  engine.collect_metrics(Cardinality::full, families);
  for (const MetricFamily& family : families) {
    if (family.name == family_name) return family.points.size();
  }
  return 0;
}

// What a job logged about itself leaves /metrics and the charts with it, also where its log is all
// that is known of it.
TEST(AgeingTest, ScalarsOfAJobThatIsOver) {
  TempDirectory target;
  AgeingWatcher watcher(target.path(), options_of(target.path()));
  for (int job = 0; job < 3; ++job) {
    target.append("job-" + std::to_string(job) + "/console.log",
                  "[titan] 2026-01-02 03:04:05,678 - root - INFO - step: 1  loss: 2.5  tps: 12\n");
  }
  watcher.look();
  const auto engine = [&]() -> const Engine& { return watcher.pipeline().engine(); };
  ASSERT_EQ(points_of(engine(), "trainwatch_scalar"), 6U);
  ASSERT_EQ(engine().history().jobs().size(), 3U);
  for (unsigned round = 0; round <= LastSeen::kPatience; ++round) {
    target.append("job-1/console.log", "[titan] 2026-01-02 03:04:06,678 - root - INFO - step: " +
                                           std::to_string(round + 2) + "  loss: 2.5  tps: 12\n");
    watcher.look();
    watcher.next_round();
  }
  EXPECT_EQ(points_of(engine(), "trainwatch_scalar"), 2U);
  ASSERT_EQ(engine().history().jobs().size(), 1U);
  const auto& [job, history] = *engine().history().jobs().begin();
  EXPECT_EQ(engine().interner().subjects[job].job, "job-1");
  for (const auto& series : history.scalars().series()) {
    EXPECT_EQ(series.curve.points().size(), LastSeen::kPatience + 2U);
  }
}

class Ageing : public testing::TestWithParam<unsigned> {};

// In each round of the job something older is forgotten, so that everything known of the job goes
// through it again and again.
TEST_P(Ageing, OfOthersChangesNoAlert) {
  TempDirectory target;
  AgeingWatcher watcher(target.path(), options_of(target.path()));
  constexpr int kRounds = static_cast<int>(LastSeen::kPatience);
  for (int node = 0; node <= kRounds; ++node) {
    target.append(
        "old/" + std::to_string(1591160000 + node) + ".old-" + std::to_string(node) + ".json",
        metrics_of(node));
    watcher.look();
    EXPECT_GT(series_of_old(watcher.pipeline().engine()), node);
    EXPECT_EQ(watcher.next_round(), node == kRounds);
  }
  LivePlayer player(kRecordedJob, target.path(), GetParam());
  std::minstd_rand random(GetParam());
  int rounds = 0;
  while (player.step()) {
    if (random() % 3 == 0) watcher.look();
    if (rounds == kRounds || random() % 4 != 0) continue;
    EXPECT_TRUE(watcher.next_round()) << rounds;
    ++rounds;
  }
  const auto alerts = watcher.finish();
  const auto expected = Watcher(target.path()).finish();
  ASSERT_EQ(rounds, kRounds) << "the job is too short for the test";
  const auto final = final_alerts(alerts);
  const auto expected_final = final_alerts(expected);
  ASSERT_EQ(final.size(), expected_final.size());
  for (const auto& [id, alert] : expected_final) {
    ASSERT_TRUE(final.contains(id)) << alert.json;
    EXPECT_EQ(final.at(id).json, alert.json);
  }
  EXPECT_EQ(order_by_subject(alerts), order_by_subject(expected));
  const SubjectTable& subjects = watcher.pipeline().engine().interner().subjects;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    EXPECT_FALSE(subjects[static_cast<SubjectId>(i)].node.starts_with("old-"));
  }
  EXPECT_EQ(series_of_old(watcher.pipeline().engine()), 0) << "on /metrics";
}
INSTANTIATE_TEST_SUITE_P(Seeds, Ageing, testing::Range(1U, 11U));

}  // namespace trainwatch::ageing_test

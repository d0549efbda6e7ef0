// SPDX-License-Identifier: Apache-2.0
// Tables whose writer writes them anew as a whole, through the tailer and the ingest, and files
// that only a configured name finds.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "pipeline/engine/ingest.h"
#include "rules/catalog.h"
#include "support/gzip.h"
#include "support/ingest_run.h"

namespace trainwatch::ingest_rewritten_test {

constexpr const char* kPath = "/r/lightning_logs/version_0/metrics.csv";

// The loss of one step is NaN.
std::string rows(int first, int last, const std::string& more = "") {
  std::string text;
  for (int i = first; i < last; ++i) {
    text += more + "0," + std::to_string(i) + (i == 5 ? ",nan" : ",0." + std::to_string(i)) + "\n";
  }
  return text;
}

std::vector<RuleConfig> loss_nan() {
  std::vector<RuleConfig> rules;
  for (const RuleSpec* const spec : rule_catalog()) {
    if (spec->id == "loss_nan") rules.emplace_back(*spec);
  }
  return rules;
}

std::uint64_t records(const test::IngestRun& run) {
  return run.ingest.sources().at("r").records;
}

// How many alerts there were.
std::size_t alerts_of(test::IngestRun& run) {
  run.ingest.end_of_input();
  run.engine.flush();
  std::set<std::string> ids;
  for (const Alert& alert : run.engine.take_emitted()) ids.insert(alert.id);
  return ids.size();
}

// A value that is repeated would be one of a second attempt, with an alert of its own.
TEST(Rewritten, AWiderHeaderRepeatsNothing) {
  test::ModelFileSystem fs;
  fs.create(kPath, "epoch,step,train_loss\n" + rows(0, 20));
  test::IngestRun run(fs);
  run.engine.reconfigure(loss_nan());
  run.look();
  EXPECT_EQ(records(run), 20U);
  run.ingest.finished(run.ingest.files().begin()->first);
  fs.truncate(kPath, 0);
  fs.append(kPath, "acc,epoch,step,train_loss\n" + rows(0, 20, ",") + rows(20, 25, "0.5,"));
  run.look(3);
  EXPECT_EQ(run.ingest.sources().at("r").truncations, 1U);
  EXPECT_EQ(records(run), 45U);
  EXPECT_EQ(alerts_of(run), 1U);
}

TEST(Rewritten, AnotherRunInTheSameFileIsOne) {
  test::ModelFileSystem fs;
  fs.create(kPath, "epoch,step,train_loss\n" + rows(0, 20));
  test::IngestRun run(fs);
  run.engine.reconfigure(loss_nan());
  run.look();
  fs.truncate(kPath, 0);
  fs.append(kPath, "epoch,step,train_loss\n0,0,7\n" + rows(1, 10));
  run.look(3);
  EXPECT_EQ(alerts_of(run), 2U);
}

TEST(Rewritten, FilesOfConfiguredNamesAreFound) {
  test::ModelFileSystem fs;
  fs.create("/r/table.dat", "step,loss\n1,2.5\n");
  fs.create("/r/other.dat", "step,loss\n1,2.5\n");
  IngestOptions options;
  options.roots = {{"/r", "r"}};
  options.roots[0].names = {"tab*.dat"};
  test::IngestRun run(fs, {}, {}, options);
  run.look();
  ASSERT_EQ(run.ingest.files().size(), 1U);
  EXPECT_EQ(run.ingest.files().begin()->second.known.path, "/r/table.dat");
  EXPECT_EQ(records(run), 1U);
}

constexpr const char* kPacked = "/r/logs/metrics.jsonl.gz";

std::string steps(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i)
    text += R"({"step": )" + std::to_string(i) + R"(, "loss": 0.)" + std::to_string(i) + "}\n";
  return text;
}

void put_in_its_place(test::ModelFileSystem& fs, const std::string& text) {
  fs.create("/r/logs/.new", test::gzip(text));
  fs.rename("/r/logs/.new", kPacked);
}

// Case 96.
TEST(Rewritten, ACompressedFileThatReplacesOneRepeatsNothing) {
  test::ModelFileSystem fs;
  test::IngestRun run(fs);
  for (const int written : {100, 200, 200, 300}) {
    put_in_its_place(fs, steps(0, written));
    run.look(2);
    EXPECT_EQ(records(run), static_cast<std::uint64_t>(written));
  }
}

TEST(Rewritten, ACompressedFileThatReplacesOneRepeatsNothingAfterARestart) {
  test::ModelFileSystem fs;
  StoredRows rows;
  for (const int written : {100, 200, 300}) {
    test::IngestRun run(fs, rows);
    ASSERT_TRUE(run.loaded);
    put_in_its_place(fs, steps(0, written));
    run.look(20);
    EXPECT_EQ(records(run), static_cast<std::uint64_t>(written));
    rows = run.rows();
  }
}

TEST(Rewritten, ACompressedFileWithOtherContentsIsAnother) {
  test::ModelFileSystem fs;
  test::IngestRun run(fs);
  put_in_its_place(fs, steps(0, 100));
  run.look();
  put_in_its_place(fs, steps(1000, 1100));
  run.look(3);
  EXPECT_EQ(records(run), 200U);
}

}  // namespace trainwatch::ingest_rewritten_test

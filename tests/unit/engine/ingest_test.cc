// SPDX-License-Identifier: Apache-2.0
// The tailer and the ingest together on files that are rotated, copied and compressed: each record
// is taken in once.
#include "pipeline/engine/ingest.h"

#include <gtest/gtest.h>

#include <string>

#include "support/gzip.h"
#include "support/ingest_run.h"

namespace trainwatch::ingest_test {

std::string line(int second) {
  return R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":50,)"
         R"("NodeId":"algo-1","Timestamp":)" +
         std::to_string(1795247800 + second) + "}\n";
}

std::string lines(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) text += line(i);
  return text;
}

using test::gzip;

class IngestTest : public testing::Test {
 protected:
  struct Run : test::IngestRun {
    using IngestRun::IngestRun;

    std::uint64_t records() const { return ingest.sources().at("r").records; }
    std::uint64_t rejects() const {
      std::uint64_t sum = 0;
      for (const std::uint64_t count : ingest.sources().at("r").rejects) sum += count;
      return sum;
    }
  };

  test::ModelFileSystem fs_;
};

TEST_F(IngestTest, ARestartGoesOnInTheMiddleOfARecord) {
  const std::string text = lines(0, 40);
  for (std::size_t cut = 1; cut < text.size(); cut += 97) {
    test::ModelFileSystem fs;
    fs.create("/r/a.jsonl", text.substr(0, cut));
    Run before(fs);
    before.look();
    fs.append("/r/a.jsonl", text.substr(cut));
    Run after(fs, before.rows());
    ASSERT_TRUE(after.loaded);
    after.look();
    EXPECT_EQ(after.records(), 40U) << cut;
    EXPECT_EQ(after.rejects(), 0U) << cut;
  }
}

TEST_F(IngestTest, RotatedWhileNobodyLooked) {
  fs_.create("/r/a.jsonl", lines(0, 20) + "{\"Type");
  Run before(fs_);
  before.look();
  fs_.truncate("/r/a.jsonl", lines(0, 20).size());
  fs_.append("/r/a.jsonl", lines(20, 30));
  fs_.rename("/r/a.jsonl", "/r/a.jsonl.1");
  fs_.create("/r/a.jsonl", lines(30, 40));
  Run after(fs_, before.rows());
  after.look(3);
  EXPECT_EQ(after.records(), 40U);
}

TEST_F(IngestTest, CopiedAndTruncatedWhileNobodyLooked) {
  fs_.create("/r/a.jsonl", lines(0, 20));
  Run before(fs_);
  before.look();
  fs_.append("/r/a.jsonl", lines(20, 30));
  fs_.create("/r/a.jsonl.1", fs_.content("/r/a.jsonl"));
  fs_.truncate("/r/a.jsonl", 0);
  fs_.append("/r/a.jsonl", lines(30, 80));  // longer than what was read
  Run after(fs_, before.rows());
  after.look(4);
  EXPECT_EQ(after.records(), 80U);
  EXPECT_EQ(after.rejects(), 0U);
}

TEST_F(IngestTest, RotatedAndCompressedWhileNobodyLooked) {
  const std::string half = line(20).substr(0, 30);
  fs_.create("/r/a.jsonl", lines(0, 20) + half);
  Run before(fs_);
  before.look();
  const std::string all = lines(0, 30);
  fs_.create("/r/a.jsonl.1.gz", gzip(all));
  fs_.create("/r/a.jsonl", lines(30, 40));
  Run after(fs_, before.rows());
  after.look(4);
  EXPECT_EQ(after.records(), 40U);
  EXPECT_EQ(after.rejects(), 0U);
}

TEST_F(IngestTest, CompressedUnderItsEyes) {
  fs_.create("/r/a.jsonl", lines(0, 20));
  Run run(fs_);
  run.look();
  fs_.rename("/r/a.jsonl", "/r/a.jsonl.1");
  fs_.create("/r/a.jsonl", lines(20, 30));
  run.look();
  const std::string packed = gzip(lines(0, 20));
  fs_.create("/r/a.jsonl.1.gz", packed.substr(0, 50));
  run.look();
  fs_.append("/r/a.jsonl.1.gz", packed.substr(50));
  fs_.unlink("/r/a.jsonl.1");
  run.look(10);
  EXPECT_EQ(run.records(), 30U);
  EXPECT_EQ(run.rejects(), 0U);
}

TEST_F(IngestTest, HalfARecordGoesOnInTheCompressedFile) {
  fs_.create("/r/a.jsonl", lines(0, 20) + line(20).substr(0, 30));
  Run run(fs_);
  run.look();
  fs_.create("/r/a.jsonl.1.gz", gzip(lines(0, 25)));
  fs_.create("/r/a.jsonl", lines(25, 40));
  run.look(10);
  EXPECT_EQ(run.records(), 40U);
  EXPECT_EQ(run.rejects(), 0U);
}

TEST_F(IngestTest, CopiedTruncatedAndCompressedWhileNobodyLooked) {
  fs_.create("/r/a.jsonl", lines(0, 20));
  Run before(fs_);
  before.look();
  fs_.create("/r/a.jsonl.1.gz", gzip(lines(0, 30)));
  fs_.truncate("/r/a.jsonl", 0);
  fs_.append("/r/a.jsonl", lines(30, 80));
  Run after(fs_, before.rows());
  after.look(4);
  EXPECT_EQ(after.records(), 80U);
  EXPECT_EQ(after.rejects(), 0U);
}

TEST_F(IngestTest, AFileSystemThatIsMountedAgain) {
  fs_.create("/r/a.jsonl", lines(0, 20));
  Run before(fs_);
  before.look();
  const std::string content = fs_.content("/r/a.jsonl");
  fs_.create("/r/a.jsonl", content + lines(20, 25));  // another inode, the same content and more
  Run after(fs_, before.rows());
  after.look(3);
  EXPECT_EQ(after.records(), 25U);
}

TEST_F(IngestTest, AnInodeUsedAgainWhileNobodyLooked) {
  fs_.births(false);
  fs_.reuse_inode_numbers(true);
  fs_.create("/r/a.jsonl", lines(0, 20));
  StoredRows rows;
  {
    Run before(fs_);
    before.look();
    rows = before.rows();
  }
  fs_.unlink("/r/a.jsonl");
  fs_.create("/r/a.jsonl", lines(100, 150));
  Run after(fs_, rows);
  after.look(3);
  EXPECT_EQ(after.records(), 70U);
}

// Its samples out of order wait no longer, and nothing is left of it in the store.
TEST_F(IngestTest, AVanishedLaneIsForgottenAsAWhole) {
  TailLimits limits;
  limits.vanished = std::chrono::minutes(10);
  limits.gone = std::chrono::minutes(1);
  fs_.create("/r/a.jsonl", lines(20, 30) + lines(0, 20) + lines(30, 35));
  fs_.create("/r/b.jsonl", lines(0, 40));
  Run run(fs_, {}, {}, {}, limits);
  run.look();
  EXPECT_TRUE(run.rows().contains("lane/0") && run.rows().contains("filter/0"));
  fs_.unlink("/r/a.jsonl");
  run.look(30 * 60);
  const StoredRows rows = run.rows();
  EXPECT_FALSE(rows.contains("lane/0") || rows.contains("filter/0"));
  EXPECT_TRUE(rows.contains("lane/1") && rows.contains("filter/1"));
  EXPECT_EQ(run.records(), 75U);
}

}  // namespace trainwatch::ingest_test

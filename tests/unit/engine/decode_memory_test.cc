// SPDX-License-Identifier: Apache-2.0
// What decoders hold is limited in bytes, all files together: the file that holds most is given up,
// and all others are read on.
#include "pipeline/engine/decode_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pipeline/engine/ingest.h"
#include "support/gzip.h"
#include "support/ingest_run.h"

namespace trainwatch::decode_memory_test {

constexpr FileId kFirst{1};
constexpr FileId kSecond{2};

TEST(DecodeMemory, TheLargestEstimateIsMeasuredFirst) {
  DecodeMemory memory(1000);
  memory.measured(kFirst, 600);
  memory.fed(kSecond, 10);
  EXPECT_FALSE(memory.full());
  memory.fed(kSecond, 20);
  EXPECT_TRUE(memory.full());
  EXPECT_EQ(memory.largest(), kSecond);
  EXPECT_FALSE(memory.is_measured(kSecond));
  memory.measured(kSecond, 100);
  EXPECT_FALSE(memory.full());
  EXPECT_EQ(memory.largest(), kFirst);
  EXPECT_TRUE(memory.is_measured(kFirst));
  memory.forget(kFirst);
  EXPECT_EQ(memory.largest(), kSecond);
  EXPECT_FALSE(memory.knows(kFirst));
}

constexpr std::size_t kMost = std::size_t{1} << 20U;

class DecodersTest : public ::testing::Test {
 protected:
  static IngestOptions limited() {
    IngestOptions options;
    options.roots = {{"/r", "r"}};
    options.decode_bytes = kMost;
    return options;
  }
  const Ingest::File& file(const std::string& name) {
    for (const auto& [id, file] : run.ingest.files()) {
      if (file.known.path == "/r/" + name) return file;
    }
    throw std::out_of_range(name);
  }
  const Ingest::Source& source() { return run.ingest.sources().at("r"); }
  std::uint64_t given_up() {
    return source().rejects[static_cast<std::size_t>(RejectReason::cardinality)];
  }

  test::ModelFileSystem fs;
  test::IngestRun run{fs, {}, {}, limited()};
};

std::string line(int step) {
  return R"({"step": )" + std::to_string(step) + R"(, "time": 1795247890, "loss": 2.5})" + "\n";
}
// Of a record that does not end.
const std::string kUnfinished = R"({"step": 3, "text": ")" + std::string(200'000, 'x');

TEST_F(DecodersTest, FilesThatHoldMuchGiveUpAndOthersAreRead) {
  fs.create("/r/good.jsonl", line(1) + R"({"step": 2, "time": 1)");
  for (int i = 0; i < 20; ++i) {
    fs.create("/r/" + std::to_string(i) + ".jsonl", line(1) + kUnfinished);
  }
  run.look();
  EXPECT_EQ(source().records, 21U);
  EXPECT_GE(given_up(), 15U);
  EXPECT_LE(given_up(), 16U);
  fs.append("/r/good.jsonl", "795247891, \"loss\": 2.5}\n");
  run.look();
  EXPECT_EQ(file("good.jsonl").records, 2U);
  EXPECT_EQ(file("good.jsonl").left_out, 0U);
  EXPECT_EQ(file("19.jsonl").left_out, 1U) << "so that a self-alert names it";
}

TEST_F(DecodersTest, TheNextLinesAreRead) {
  for (int i = 0; i < 10; ++i) {
    fs.create("/r/" + std::to_string(i) + ".jsonl", line(1) + kUnfinished);
  }
  run.look();
  EXPECT_GE(given_up(), 4U);
  for (int i = 0; i < 10; ++i) fs.append("/r/" + std::to_string(i) + ".jsonl", "\"}\n" + line(4));
  run.look();
  for (int i = 0; i < 10; ++i) {
    const Ingest::File& read = file(std::to_string(i) + ".jsonl");
    EXPECT_EQ(read.records, 3U - read.left_out) << "a line is lost where it was given up";
  }
}

TEST_F(DecodersTest, OfADocumentTheRestIsCounted) {
  const std::string begin =
      "[\n"
      R"({"name": "a", "ph": "X", "pid": 1, "ts": 1, "dur": 2},)"
      "\n{\"name\": \"";
  for (int i = 0; i < 10; ++i) {
    fs.create("/r/" + std::to_string(i) + "_pythontimeline.json", begin + kUnfinished);
  }
  run.look();
  const std::uint64_t before = given_up();
  EXPECT_GE(before, 4U);
  const std::uint64_t skipped = source().skipped;
  for (int i = 0; i < 10; ++i) fs.append("/r/" + std::to_string(i) + "_pythontimeline.json", "xyz");
  run.look();
  EXPECT_GE(source().skipped - skipped, 4U * 3);
  EXPECT_EQ(given_up(), before) << "which is said once";
}

TEST_F(DecodersTest, InsideACompressedStreamNothingBeginsAnew) {
  for (int i = 0; i < 40; ++i) {
    const std::string all = test::gzip(line(1) + line(2) + line(3));
    fs.create("/r/" + std::to_string(i) + ".jsonl.gz", all.substr(0, all.size() - 8));
  }
  run.look();
  EXPECT_GT(given_up(), 0U);
  const std::uint64_t records = source().records;
  for (int i = 0; i < 40; ++i) fs.append("/r/" + std::to_string(i) + ".jsonl.gz", "12345678");
  run.look();
  EXPECT_EQ(source().records, records);
  EXPECT_EQ(source().rejects[static_cast<std::size_t>(RejectReason::syntax)], 0U);
}

// A file of which nothing is recognised is one of no format.
TEST_F(DecodersTest, BeginningsOfUnknownFiles) {
  for (int i = 0; i < 40; ++i) {
    fs.create("/r/" + std::to_string(i) + ".json",
              "{\"annotations\": \"" + std::string(50'000, 'x'));
  }
  fs.create("/r/good.jsonl", line(1));
  run.look();
  EXPECT_EQ(source().records, 1U);
  EXPECT_EQ(file("39.json").format, "unknown");
}

}  // namespace trainwatch::decode_memory_test

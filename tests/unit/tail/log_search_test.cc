// SPDX-License-Identifier: Apache-2.0
// Which files below a root are read because of what is in them. The probe of these tests knows
// lines "step N loss L" and nothing else.
#include <sstream>

#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::log_search_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class StepLook final : public ContentLook {
 public:
  bool feed(std::string_view bytes) override {
    text_ += bytes;
    binary_ = binary_ || bytes.find('\0') != std::string_view::npos;
    return !binary_;
  }
  HeadContent content() override {
    HeadContent content;
    if (binary_) {
      content.answer = HeadContent::Answer::no;
      return content;
    }
    std::istringstream lines(text_);
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      std::istringstream words(line);
      std::string step;
      std::string loss;
      HeadRecord record;
      double value = 0;
      if (!(words >> step >> record.step >> loss >> value) || step != "step") continue;
      content.answer = HeadContent::Answer::yes;
      record.values.push_back({0, value});
      if (content.records.size() < HeadContent::kMostRecords) content.records.push_back(record);
    }
    return content;
  }

 private:
  std::string text_;
  bool binary_ = false;
};

std::string records(int first, int last, double from = 3) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    text += "step " + std::to_string(i) + " loss " + std::to_string(from - 0.001 * i) + "\n";
  }
  return text;
}

class LogSearchTest : public TailerTest {
 protected:
  void search(TailLimits limits = {}, const TailCheckpoint& resume = {}) {
    tailer.emplace(fs, std::vector<WatchRoot>{{"/r", "r"}}, limits, resume,
                   [](const std::string&) { return std::make_unique<StepLook>(); });
  }
  Calls after(int scans) {
    Calls all;
    for (int i = 0; i < scans; ++i) {
      scan();
      for (std::string& call : drain()) all.push_back(std::move(call));
    }
    return all;
  }
  Calls opened(int scans = 1) {
    Calls all;
    for (const std::string& call : after(scans)) {
      if (call.starts_with("opened ")) all.push_back(call.substr(7));
    }
    return all;
  }
  Calls skipped() const {
    Calls all;
    for (const auto& each : tailer->skipped().first()) {
      all.push_back(each.path.substr(3) + ' ' + std::string(to_string(each.reason)) +
                    (each.of.empty() ? "" : " " + each.of.substr(3)));
    }
    return all;
  }
};

TEST_F(LogSearchTest, ContentsDecide) {
  fs.create("/r/a/train.log", "hello\n" + records(1, 5));
  fs.create("/r/b/0.log", records(1, 5, 4));
  fs.create("/r/c/log.txt", records(1, 5, 5));
  fs.create("/r/d/console", records(1, 5, 6));
  fs.create("/r/e/pip.log", "Collecting torch\n");
  fs.create("/r/e/README", "How to train\n");
  fs.create("/r/e/empty.log");
  fs.create("/r/e/code.py", records(1, 5));
  fs.create("/r/e/blob", std::string("\0\1", 2) + records(1, 5));
  fs.create("/r/.git/x/y.log", records(1, 5));
  fs.create("/r/venv/site-packages/p/LICENSE.txt", records(1, 5));
  search();
  EXPECT_THAT(opened(3), UnorderedElementsAre("train.log", "0.log", "log.txt", "console"));
  EXPECT_THAT(skipped(),
              UnorderedElementsAre("e/pip.log no_known_format", "e/README no_known_format",
                                   "e/blob no_known_format"));
  EXPECT_EQ(tailer->looks(), 7U) << "once each, but for the empty one";
}

TEST_F(LogSearchTest, NoProbeNoCandidates) {
  fs.create("/r/train.log", records(1, 5));
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(skipped(), IsEmpty());
}

TEST_F(LogSearchTest, ALogThatShowsItLate) {
  fs.create("/r/train.log", "warming up\n");
  search();
  EXPECT_THAT(opened(5), IsEmpty());
  fs.append("/r/train.log", records(1, 1));
  EXPECT_FALSE(tailer->refresh({"/r/train.log"})) << "a scan is needed";
  EXPECT_THAT(after(1), ElementsAre("opened train.log", "data train.log"));
  EXPECT_EQ(sink.file("/r/train.log").bytes, "warming up\n" + records(1, 1));
}

TEST_F(LogSearchTest, ALogThatRestedIsFoundWithoutAHint) {
  fs.create("/r/train.log", "warming up\n");
  search();
  after(60);
  fs.append("/r/train.log", records(1, 1));
  EXPECT_THAT(opened(9), ElementsAre("train.log"));
}

TEST_F(LogSearchTest, OnlyTheHeadIsLookedAt) {
  TailLimits limits;
  limits.head_bytes = 64 << 10U;
  const std::string banner(limits.head_bytes, 'x');
  fs.create("/r/0.log", banner + "\n" + records(1, 9));
  fs.create("/r/train.log", banner + "\n" + records(1, 9));
  search(limits);
  EXPECT_THAT(opened(2), ElementsAre("train.log")) << "its name says what it is";
  fs.append("/r/0.log", records(10, 99));
  EXPECT_THAT(opened(20), IsEmpty());
  EXPECT_EQ(tailer->bytes_looked_at(), 2 * limits.head_bytes);
}

TEST_F(LogSearchTest, AGrowingFileIsNotLookedAtForEver) {
  fs.create("/r/other.log", "x\n");
  search();
  for (int i = 0; i < 400; ++i) {
    fs.append("/r/other.log", "x\n");
    scan();
  }
  EXPECT_LT(tailer->looks(), 90U);
  fs.append("/r/other.log", records(1, 4));  // an eighth of what there is
  for (int i = 0; i < 10; ++i) fs.append("/r/other.log", records(5, 9));
  EXPECT_THAT(opened(12), ElementsAre("other.log"));
}

TEST_F(LogSearchTest, ScansShareTheWork) {
  TailLimits limits;
  limits.scan_head_bytes = 64 << 10U;
  for (int i = 0; i < 10; ++i)
    fs.create("/r/" + std::to_string(i) + ".log", std::string(20'000, 'x'));
  fs.create("/r/z/train.log", records(1, 9));
  search(limits);
  EXPECT_THAT(opened(), ElementsAre("train.log")) << "the surest name first";
  EXPECT_TRUE(tailer->has_unlooked());
  EXPECT_FALSE(tailer->settled());
  EXPECT_EQ(tailer->looks(), 4U);
  after(2);
  EXPECT_FALSE(tailer->has_unlooked());
  EXPECT_EQ(tailer->looks(), 11U);
}

TEST_F(LogSearchTest, ADataSetIsLookedAtOnce) {
  for (int i = 0; i < 20'000; ++i) {
    fs.create("/r/data/" + std::to_string(i) + ".txt", "a cat\n");
  }
  search();
  after(80);
  EXPECT_EQ(tailer->looks(), 4096U);
  EXPECT_EQ(tailer->skipped().count(SkipReason::no_known_format), 4096U);
  EXPECT_EQ(tailer->skipped().count(SkipReason::not_looked_at), 20'000U - 4096U);
  const std::uint64_t reads = fs.reads();
  const std::uint64_t stats = fs.stats();
  after(16);
  EXPECT_EQ(fs.reads(), reads);
  EXPECT_LT((fs.stats() - stats) / 16, 4096U / 4) << "each once in about eight seconds";
  fs.create("/r/logs/train.log", records(1, 5));
  EXPECT_THAT(opened(2), ElementsAre("train.log"));
}

TEST_F(LogSearchTest, RenamesAreNotReadAgain) {
  fs.create("/r/other.log", "x\n");
  fs.create("/r/train.log", records(1, 5));
  search();
  after(2);
  fs.rename("/r/other.log", "/r/another.log");
  fs.rename("/r/train.log", "/r/train.log.1");
  fs.append("/r/train.log.1", records(6, 7));
  fs.create("/r/train.log", "no record\n");
  const Calls calls = after(3);
  EXPECT_THAT(calls, Contains("renamed train.log.1"));
  EXPECT_THAT(calls, Contains("opened train.log")) << "it goes on there";
  EXPECT_EQ(tailer->looks(), 2U);
}

TEST_F(LogSearchTest, WhatWasReadBeforeARestartIsReadOn) {
  fs.create("/r/notes.log", "no record\n");
  TailCheckpoint resume;
  FileCheckpoint saved;
  saved.known = {FileId{1}, LaneId{0}, "r", "/r/notes.log", fs.identity("/r/notes.log"), 0};
  saved.known.identity.device = 1;
  saved.read.extend("no record\n");
  resume.files.push_back(saved);
  resume.lanes.push_back({LaneId{0}, "file:/r/notes.log:", ""});
  sink.files[FileId{1}].path = "/r/notes.log";  // it heard of it before
  search({}, resume);
  fs.append("/r/notes.log", "more\n");
  EXPECT_THAT(after(2), Contains("data notes.log"));
  EXPECT_EQ(tailer->looks(), 0U);
}

TEST_F(LogSearchTest, ACopyIsNotRead) {
  fs.create("/r/slurm-1.out", "srun\n" + records(1, 50));
  fs.create("/r/logs/train.log", records(1, 40));
  fs.create("/r/logs/other.log", records(1, 40, 7));
  search();
  EXPECT_THAT(opened(3), UnorderedElementsAre("slurm-1.out", "other.log"));
  EXPECT_THAT(skipped(), ElementsAre("logs/train.log copy slurm-1.out"));
  fs.append("/r/logs/train.log", records(41, 50));
  EXPECT_THAT(opened(3), IsEmpty());
  EXPECT_EQ(tailer->looks(), 3U);
  fs.unlink("/r/slurm-1.out");
  EXPECT_THAT(opened(40), ElementsAre("train.log")) << "now it is the only one";
}

TEST_F(LogSearchTest, OfTwoCandidatesTheLongerOneIsRead) {
  fs.create("/r/train-old.log", records(1, 20));
  fs.create("/r/train.log", records(1, 40));
  fs.create("/r/0.log", records(1, 90));
  search();
  EXPECT_THAT(opened(3), ElementsAre("train.log")) << "but a name that says more counts first";
  EXPECT_EQ(tailer->skipped().count(SkipReason::copy), 2U);
}

TEST_F(LogSearchTest, LogsKnownByNameAreNeverCopies) {
  fs.create("/r/slurm-1.out", records(1, 20));
  fs.create("/r/slurm-2.out", records(1, 20));
  search();
  EXPECT_THAT(opened(2), ElementsAre("slurm-1.out", "slurm-2.out"));
  EXPECT_EQ(tailer->looks(), 0U) << "there is nothing to compare";
}

TEST_F(LogSearchTest, WhatMayBecomeACopyWaits) {
  fs.create("/r/slurm-1.out", "srun\n");
  fs.create("/r/train.log", records(1, 1));
  search();
  EXPECT_THAT(opened(3), ElementsAre("slurm-1.out"));
  EXPECT_FALSE(tailer->settled());
  fs.append("/r/slurm-1.out", records(1, 2));
  fs.append("/r/train.log", records(2, 2));
  EXPECT_THAT(opened(3), IsEmpty()) << "alike so far";
  fs.append("/r/slurm-1.out", records(3, 3));
  fs.append("/r/train.log", records(3, 3));
  EXPECT_THAT(opened(3), IsEmpty());
  EXPECT_THAT(skipped(), ElementsAre("train.log copy slurm-1.out"));
  EXPECT_TRUE(tailer->settled());
}

TEST_F(LogSearchTest, ButNotForEver) {
  fs.create("/r/slurm-1.out", "srun\n");
  fs.create("/r/train.log", records(1, 1));
  search();
  EXPECT_THAT(opened(50), ElementsAre("slurm-1.out"));
  EXPECT_THAT(opened(15), ElementsAre("train.log"));
}

TEST_F(LogSearchTest, NorWhereNothingMoreComes) {
  fs.create("/r/slurm-1.out", "srun\n");
  fs.create("/r/train.log", records(1, 1));
  TailLimits limits;
  limits.copy_patience = Nanos{0};
  search(limits);
  EXPECT_THAT(opened(1), UnorderedElementsAre("slurm-1.out", "train.log"));
}

TEST_F(LogSearchTest, AFileThatIsBegunAnewIsLookedAtAnew) {
  fs.create("/r/slurm-1.out", records(1, 20));
  fs.create("/r/train.log", records(1, 20));
  search();
  EXPECT_THAT(opened(2), ElementsAre("slurm-1.out"));
  fs.truncate("/r/train.log", 0);
  fs.append("/r/train.log", records(1, 5, 9));
  EXPECT_THAT(opened(3), ElementsAre("train.log"));
}

// Catalogue 98.
TEST_F(LogSearchTest, FilesThatShowNothingOfOursMakeRoomFirst) {
  for (int i = 0; i < 4; ++i) fs.create("/r/job/" + std::to_string(i) + ".json", records(1, 5));
  for (int i = 0; i < 6; ++i) fs.create("/r/set/" + std::to_string(i) + ".json", "a picture\n");
  search({.max_files = 8, .idle = std::chrono::minutes(1)});
  EXPECT_THAT(opened(), SizeIs(8));
  EXPECT_EQ(tailer->files_dropped(), 2U);
  EXPECT_THAT(opened(6), ElementsAre("4.json", "5.json")) << "after TailLimits::linger";
  for (int i = 0; i < 2; ++i) fs.create("/r/later" + std::to_string(i) + ".json", records(1, 5));
  EXPECT_THAT(opened(), ElementsAre("later0.json", "later1.json"));
  fs.append("/r/job/0.json", records(6, 7));
  EXPECT_THAT(after(1), ElementsAre("data 0.json")) << "what shows something keeps its place";
}

TEST_F(LogSearchTest, AFileThatCannotBeOpened) {
  fs.create("/r/train.log", records(1, 20));
  fs.fail_open("/r/train.log", "permission denied");
  search();
  EXPECT_THAT(opened(20), IsEmpty());
  EXPECT_EQ(tailer->looks(), 1U);
  EXPECT_THAT(skipped(), ElementsAre("train.log no_known_format"));
  fs.heal();
  fs.append("/r/train.log", records(21, 22));
  EXPECT_THAT(opened(3), ElementsAre("train.log"));
}

}  // namespace trainwatch::test::log_search_test

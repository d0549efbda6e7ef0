// SPDX-License-Identifier: Apache-2.0
// More files than usual, and more than there is room for. Bounds on time are counts of calls, so
// that they hold on any machine. The numbers are those of the fault catalogue.
#include <malloc.h>

#include <algorithm>

#include "pipeline/tail/posix_file_system.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::many_files_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ManyFilesTest : public TailerTest {
 protected:
  static std::string path(int i) { return "/r/" + std::to_string(i) + ".json"; }
  void create(int files, const std::string& content) {
    for (int i = 0; i < files; ++i) fs.create(path(i), content);
  }
};

// Catalogue 52.
TEST_F(ManyFilesTest, EmptyFilesMakeRoomForFilesWithContent) {
  start({.max_files = 8, .idle = std::chrono::minutes(1)});
  create(20, "");
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_EQ(tailer->files_dropped(), 0U) << "nothing of them is lost";
  fs.create("/r/z/job.json", "x");
  EXPECT_THAT(pass(), ElementsAre("opened job.json", "data job.json"));
  EXPECT_EQ(tailer->files_dropped(), 0U);
  EXPECT_THAT(tailer->files(), SizeIs(8));
}

TEST_F(ManyFilesTest, FilesWithContentGoFirstAmongThoseThatAreFoundTogether) {
  start({.max_files = 8, .idle = std::chrono::minutes(1)});
  create(20, "");
  fs.create("/r/z/job.json", "x");
  EXPECT_THAT(pass(), ElementsAre("opened job.json", "data job.json"));
}

TEST_F(ManyFilesTest, AnEmptyFileThatMadeRoomIsReadOnceItHasContent) {
  start({.max_files = 8, .idle = std::chrono::minutes(1)});
  create(8, "");
  pass();
  for (int i = 0; i < 4; ++i) fs.create("/r/z/" + std::to_string(i) + ".json", "x");
  EXPECT_THAT(pass(), SizeIs(8));
  for (int i = 0; i < 4; ++i) fs.append(path(i), "y");
  for (int i = 0; i < 3; ++i) pass();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sink.file(path(i)).bytes, "y");
}

TEST_F(ManyFilesTest, IdleFilesMakeRoomTheOldestFirstAndLiveOnesDoNot) {
  start({.max_files = 4, .idle = std::chrono::seconds(10)});
  create(4, "x");
  pass();
  for (int i = 0; i < 20; ++i) {
    fs.append(path(3), "x");
    pass();
  }
  fs.append(path(2), "y");
  pass();
  fs.create("/r/new.json", "z");
  fs.create("/r/newer.json", "z");
  EXPECT_THAT(pass(), ElementsAre("finished 0.json", "finished 1.json", "opened new.json",
                                  "data new.json", "opened newer.json", "data newer.json"));
  fs.create("/r/newest.json", "z");
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_EQ(tailer->files_dropped(), 1U) << "those that are left are live";
  fs.append(path(2), "y");
  fs.append(path(3), "y");
  EXPECT_THAT(pass(), ElementsAre("data 2.json", "data 3.json"));
}

TEST_F(ManyFilesTest, AFileThatGrowsAfterItMadeRoomIsCounted) {
  start({.max_files = 2});
  create(3, "x");
  pass();
  pass();
  EXPECT_EQ(tailer->files_dropped(), 0U);
  fs.append(path(0), "y");
  pass();
  EXPECT_EQ(tailer->files_dropped(), 1U);
}

TEST_F(ManyFilesTest, ScansOfManyFilesLookAtQuietOnesNowAndThen) {
  start({.few_files = 10});
  create(100, "x");
  for (int i = 0; i < 60; ++i) pass();
  const auto before = fs.stats();
  for (int i = 0; i < 16; ++i) pass();
  EXPECT_LE(fs.stats() - before, 100U * 16 / 3);
  fs.append(path(7), "y");
  std::vector<std::string> calls;
  for (int i = 0; i < 8; ++i) std::ranges::copy(pass(), std::back_inserter(calls));
  EXPECT_THAT(calls, ElementsAre("data 7.json")) << "within TailLimits::rest";
}

TEST_F(ManyFilesTest, AQuietFileThatIsNamedIsLookedAtAtOnce) {
  start({.few_files = 10});
  create(100, "x");
  for (int i = 0; i < 60; ++i) pass();
  fs.append(path(7), "y");
  tailer->refresh({path(7), "/r/unknown.json"});
  EXPECT_THAT(drain(), ElementsAre("data 7.json"));
  fs.append(path(8), "y");
  tailer->look_at({path(8)});
  EXPECT_THAT(pass(), ElementsAre("data 8.json"));
}

TEST_F(ManyFilesTest, ALiveFileAmongManyIsLookedAtInEachScan) {
  start({.few_files = 10});
  create(100, "x");
  for (int i = 0; i < 60; ++i) {
    fs.append(path(7), "y");
    EXPECT_THAT(pass(), Contains("data 7.json"));
  }
}

// Two rotated pieces of one base name are compared by reading them: n pieces are not n * n reads.
TEST_F(ManyFilesTest, ManyPiecesOfOneNameAreComparedWithTheirNeighbours) {
  const auto reads_with = [this](int pieces) {
    for (int i = 1; i <= pieces; ++i) {
      fs.create("/r/log.jsonl." + std::to_string(i), std::string(300, 'x') + std::to_string(i));
    }
    const auto before = fs.reads();
    tailer.reset();
    sink = {};
    pass();
    return fs.reads() - before;
  };
  const auto few = reads_with(200);
  const auto many = reads_with(800);
  EXPECT_LT(many, 6 * few);
}

TEST_F(ManyFilesTest, EveryFileOfATreeIsReadOnce) {
  constexpr int kFiles = 20'000;
  for (int i = 0; i < kFiles; ++i) {
    fs.create("/r/" + std::to_string(i % 100) + "/" + std::to_string(i) + ".jsonl", "x");
  }
  pass();
  EXPECT_EQ(sink.files.size(), kFiles);
  EXPECT_EQ(sink.total, kFiles);
  EXPECT_EQ(tailer->files_dropped(), 0U);
  pass();
  EXPECT_EQ(sink.total, kFiles);
}

// Takes everything and keeps nothing.
class NullSink final : public TailSink {
 public:
  void opened(const KnownFile&, const std::string&, const std::vector<FileId>&) override {}
  void data(FileId, const AppendedBytes& appended) override { total += appended.bytes.size(); }
  void renamed(const KnownFile&) override {}
  void cut_back(FileId, std::uint64_t) override {}
  void restarted(FileId, std::uint64_t) override {}
  void finished(FileId) override {}
  void read_error(FileId, const std::string&) override {}
  void forgotten(FileId, bool) override {}
  void lane_forgotten(LaneId) override {}
  void checkpoint_written(const CheckpointFile&) override {}

  std::size_t total = 0;
};

TEST(ManyFilesMemoryTest, AFileCostsLittleMemory) {
  constexpr std::size_t kFiles = 4000;
  TempDirectory dir;
  for (std::size_t i = 0; i < kFiles; ++i) {
    dir.append("rank-" + std::to_string(i) + "-metrics.jsonl", std::string(1200, 'x') + '\n');
  }
  const auto used = [] { return ::mallinfo2().uordblks; };
  NullSink sink;
  PosixFileSystem files({{dir.path(), "t"}});
  const std::size_t before = used();
  Tailer tailer(files, {{dir.path(), "t"}});
  for (int i = 1; i < 40; ++i) {
    tailer.scan(sink, ScanTime{} + std::chrono::seconds(i));
    while (tailer.read(sink)) {
    }
  }
  if (used() == before) GTEST_SKIP() << "another allocator";
  EXPECT_EQ(sink.total, kFiles * 1201);
  const std::size_t of_one = (used() - before) / kFiles;
  RecordProperty("bytes_per_file", static_cast<int>(of_one));
  EXPECT_LE(of_one, 2816U) << "half of it are the last bytes that were read";
}

}  // namespace trainwatch::test::many_files_test

// SPDX-License-Identifier: Apache-2.0
// The real file system, alone and below a tailer.
#include "pipeline/tail/posix_file_system.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "pipeline/tail/tailer.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temp_directory.h"

namespace trainwatch::test::posix_file_system_test {

namespace stdfs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PosixTest : public ::testing::Test {
 protected:
  std::vector<std::string> pass() {
    tailer.scan(sink, now += std::chrono::seconds(1));
    while (tailer.read(sink)) {
    }
    return sink.take_calls();
  }

  TempDirectory dir;
  PosixFileSystem fs{{{dir.path(), "t"}}};
  RecordingSink sink;
  Tailer tailer{fs, {{dir.path(), "t"}}};
  ScanTime now{};
};

TEST_F(PosixTest, KnowsIdentitySizeAndLink) {
  dir.append("a.json", "12345");
  const auto by_path = fs.stat(dir / "a.json");
  ASSERT_TRUE(by_path);
  EXPECT_EQ(by_path->size, 5U);
  EXPECT_NE(by_path->identity.inode, 0U);
  EXPECT_GT(by_path->modified_ns, 1'600'000'000'000'000'000);
  EXPECT_TRUE(by_path->linked);
  auto file = fs.open(dir / "a.json");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->stat()->identity, by_path->identity);
  ::unlink((dir / "a.json").c_str());
  EXPECT_FALSE((*file)->stat()->linked);
  char buffer[8];
  EXPECT_EQ(*(*file)->read(2, buffer), 3U);
  EXPECT_EQ(*(*file)->read(5, buffer), 0U);
}

// Otherwise each read after a write would make the kernel write to the inode of a file that the
// training writes to.
TEST_F(PosixTest, ReadingLeavesNoTrace) {
  dir.append("a.json", "12345");
  constexpr timespec kLongAgo{1'600'000'000, 0};
  constexpr timespec kTimes[] = {kLongAgo, {0, UTIME_OMIT}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (dir / "a.json").c_str(), kTimes, 0), 0);
  auto file = fs.open(dir / "a.json");
  ASSERT_TRUE(file);
  char buffer[8];
  EXPECT_EQ(*(*file)->read(0, buffer), 5U);
  struct stat found {};
  ASSERT_EQ(::stat((dir / "a.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_atim.tv_sec, kLongAgo.tv_sec);
}

TEST_F(PosixTest, ANewFileIsAnotherEvenWithTheSameInodeNumber) {
  dir.append("a.json", "x");
  const auto old = fs.stat(dir / "a.json");
  if (old->identity.birth_ns == 0) GTEST_SKIP() << "no birth times on this file system";
  ::unlink((dir / "a.json").c_str());
  dir.append("a.json", "x");
  EXPECT_NE(fs.stat(dir / "a.json")->identity, old->identity);
}

TEST_F(PosixTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((dir / "fifo.json").c_str(), 0600), 0);
  dir.append("real.json", "x");
  stdfs::create_symlink(dir / "real.json", dir / "link.json");
  stdfs::create_directory(dir / "dir.json");
  for (const char* name : {"fifo.json", "link.json", "dir.json"}) {
    EXPECT_FALSE(fs.open(dir / name)) << name;
    EXPECT_FALSE(fs.stat(dir / name)) << name;
  }
  EXPECT_FALSE(fs.open("/dev/null"));
  EXPECT_THAT(fs.open(dir / "none.json").error().message, HasSubstr("No such file"));
}

TEST_F(PosixTest, ListsSortedByNameWithTypes) {
  using Type = DirectoryEntry::Type;
  dir.append("b.json", "");
  dir.append("a/x.json", "");
  ASSERT_EQ(::mkfifo((dir / "c").c_str(), 0600), 0);
  stdfs::create_directory_symlink(dir / "a", dir / "d");
  const auto entries = fs.list(dir.path());
  ASSERT_TRUE(entries);
  std::vector<std::pair<std::string, Type>> found;
  for (const auto& entry : *entries) found.emplace_back(entry.name, entry.type);
  EXPECT_THAT(found, ElementsAre(std::pair{"a", Type::directory}, std::pair{"b.json", Type::file},
                                 std::pair{"c", Type::other}, std::pair{"d", Type::link}));
  EXPECT_FALSE(fs.list(dir / "none"));
  EXPECT_FALSE(fs.list(dir / "b.json"));
}

TEST_F(PosixTest, AFifoALinkAndALoopDoNotDisturbAScan) {
  ASSERT_EQ(::mkfifo((dir / "fifo.json").c_str(), 0600), 0);
  dir.append("s/real.json", "x");
  stdfs::create_symlink(dir / "s/real.json", dir / "link.json");
  stdfs::create_directory_symlink(dir.path(), dir / "s/loop");
  EXPECT_THAT(pass(), ElementsAre("opened real.json", "data real.json"));
}

// What smdebug does, with its own calls: append, take 2 bytes back, close the array, rename.
TEST_F(PosixTest, ATimelineIsRenamedWhileItIsRead) {
  const std::string open = "framework/7-algo-1_pythontimeline.json.tmp";
  const std::string closed =
      "framework/pevents/2026112104/1795236016087300_7-algo-1_pythontimeline.json";
  const std::string line = R"({"name": "Step:ModeKeys.TRAIN", "pid": 0, "ph": "X", "ts": 5869},)";
  dir.append(open, "[\n" + line + "\n");
  pass();
  dir.append(open, line + "\n");
  stdfs::resize_file(dir / open, stdfs::file_size(dir / open) - 2);
  dir.append(open, "\n]");
  dir.rename(open, closed);
  dir.append(open, "[\n");
  const std::string name = closed.substr(closed.rfind('/') + 1);
  EXPECT_THAT(pass(), ElementsAre("renamed " + name, "data " + name, "finished " + name,
                                  "opened 7-algo-1_pythontimeline.json.tmp",
                                  "data 7-algo-1_pythontimeline.json.tmp"));
  EXPECT_EQ(sink.file(dir / closed).bytes, dir.read(closed));
  EXPECT_EQ(sink.file(dir / open).bytes, "[\n");
  EXPECT_EQ(sink.total, dir.read(closed).size() + 2) << "a byte was read twice";
}

TEST_F(PosixTest, TwoBytesTakenBack) {
  dir.append("a.json", R"([{"ph": "X", "ts": 1}, )");
  pass();
  stdfs::resize_file(dir / "a.json", stdfs::file_size(dir / "a.json") - 2);
  EXPECT_THAT(pass(), ElementsAre("cut_back 2 a.json"));
  dir.append("a.json", "]");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  EXPECT_EQ(sink.file(dir / "a.json").bytes, dir.read("a.json"));
}

TEST_F(PosixTest, CopyTruncate) {
  dir.append("a.json", "first content\n");
  pass();
  stdfs::copy_file(dir / "a.json", dir / "a.json.1");
  stdfs::resize_file(dir / "a.json", 0);
  dir.append("a.json", "second\n");
  EXPECT_THAT(pass(), ElementsAre("renamed a.json.1"));  // the content is there now
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json"));
  EXPECT_EQ(sink.file(dir / "a.json.1").bytes, "first content\n");
  EXPECT_EQ(sink.file(dir / "a.json").bytes, "second\n");
}

TEST_F(PosixTest, DeletedWhileOpen) {
  dir.append("a.json", "begin ");
  pass();
  dir.append("a.json", "end");
  ::unlink((dir / "a.json").c_str());
  EXPECT_THAT(pass(), ElementsAre("data a.json", "finished a.json"));
  EXPECT_EQ(sink.files.begin()->second.bytes, "begin end");
  for (int i = 0; i < 10; ++i) EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(tailer.files(), IsEmpty());
}

TEST_F(PosixTest, DeletedAndWrittenAnew) {
  dir.append("a.json", "old");
  pass();
  ::unlink((dir / "a.json").c_str());
  dir.append("a.json", "other");
  EXPECT_THAT(pass(), ElementsAre("finished a.json", "opened a.json", "data a.json"));
  EXPECT_EQ(sink.files.rbegin()->second.bytes, "other");
}

TEST_F(PosixTest, TwoMinutesOfSystemMetricsInOrder) {
  dir.append("system/incremental/2020061001/1591748160.algo-1.json", "2\n");
  dir.append("system/incremental/2020061000/1591748100.algo-1.json", "1\n");
  EXPECT_THAT(pass(), ElementsAre("opened 1591748100.algo-1.json", "data 1591748100.algo-1.json",
                                  "finished 1591748100.algo-1.json",
                                  "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json"));
}

TEST_F(PosixTest, NoPermissionIsReportedOnceAndTriedAgain) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  dir.append("a.json", "x");
  ASSERT_EQ(::chmod((dir / "a.json").c_str(), 0), 0);
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "read_error a.json"));
  EXPECT_THAT(pass(), IsEmpty());
  ASSERT_EQ(::chmod((dir / "a.json").c_str(), 0600), 0);
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
}

TEST_F(PosixTest, AThousandGrowingFiles) {
  const auto name = [](int i) {
    return "d" + std::to_string(i % 10) + "/" + std::to_string(i) + ".json";
  };
  for (int i = 0; i < 1000; ++i) dir.append(name(i), "begin " + std::to_string(i));
  pass();
  for (int i = 0; i < 1000; i += 3) dir.append(name(i), " end");
  pass();
  EXPECT_EQ(sink.files.size(), 1000U);
  std::size_t size = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string content = dir.read(name(i));
    EXPECT_EQ(sink.file(dir / name(i)).bytes, content);
    size += content.size();
  }
  EXPECT_EQ(sink.total, size);
}

}  // namespace trainwatch::test::posix_file_system_test

// SPDX-License-Identifier: Apache-2.0
// Cases of the fault catalogue about identity and odd file systems that no other test has.
#include "pipeline/tail/lane.h"
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_catalogue_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string lines(const std::string& text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text + ' ' + std::to_string(i) + '\n';
  return all;
}

class CatalogueTest : public TailerTest {
 protected:
  // A tailer that resumes behind `read` bytes of what `path` holds now.
  void resume(const std::string& path) {
    Fingerprint read;
    read.extend(fs.content(path));
    resume(path, read);
  }
  void resume(const std::string& path, const Fingerprint& read) {
    FileCheckpoint file;
    file.known = {FileId{1}, LaneId{0}, "r", path, fs.stat(path)->identity, 0};
    file.read = read;
    const FilePlace place = place_of(path);
    tailer.emplace(fs, std::vector<WatchRoot>{{"/r", "r"}}, TailLimits{},
                   TailCheckpoint{{file}, {{LaneId{0}, place.lane, ""}}});
    sink.opened(file.known, place.lane, {});
    sink.data(FileId{1}, {fs.content(path), Time{}, read});
    sink.take_calls();
  }
};

// Case 17: the bytes before the offset are compared whenever it is read on.
TEST_F(CatalogueTest, SameSizeAndTimeButOtherContentIsNoticedWhenItGrows) {
  fs.create("/r/a.jsonl", lines("old", 20));
  pass();
  fs.rewrite_unnoticed("/r/a.jsonl", lines("new", 20));
  EXPECT_THAT(pass(), IsEmpty()) << "size and time are the same";
  fs.append("/r/a.jsonl", "more\n");
  pass();
  pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, lines("new", 20) + "more\n");
}

// Case 17, while trainwatch was not running.
TEST_F(CatalogueTest, SameSizeAndTimeButOtherContentIsNoticedAfterARestart) {
  fs.create("/r/a.jsonl", lines("old", 100));
  resume("/r/a.jsonl");
  fs.rewrite_unnoticed("/r/a.jsonl", lines("new", 100));
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, lines("new", 100));
}

class ClosedTrace : public CatalogueTest, public ::testing::WithParamInterface<std::size_t> {};

// torch's close() removes two bytes and appends one. Without birth times, a restart compares the
// content; one in 1,024 closed traces used to be mistaken for another file, because a block ended
// between the two bytes.
TEST_P(ClosedTrace, IsNotReadAgainAfterARestart) {
  const std::string open = "[" + std::string(GetParam() - 3, '1') + ", ";
  Fingerprint read;
  read.extend(open);
  read.cut(2);
  read.extend("]");
  fs.births(false);
  fs.create("/r/a.json", open.substr(0, GetParam() - 2) + "]");
  resume("/r/a.json", read);
  EXPECT_THAT(pass(), IsEmpty());
  fs.append("/r/a.json", "\n");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
}
constexpr std::size_t kBlockEnds = Fingerprint::kBlock + Fingerprint::kTail;
INSTANTIATE_TEST_SUITE_P(AcrossABlock, ClosedTrace,
                         ::testing::Range(kBlockEnds - 3, kBlockEnds + 3));

// Case 13: old records were edited in place, so everything behind them moved.
TEST_F(CatalogueTest, EditedOldRecordsAreReadAnew) {
  fs.create("/r/a.jsonl", lines("line", 100));
  pass();
  const std::string edited = "a longer first record\n" + lines("line", 100) + "more\n";
  fs.truncate("/r/a.jsonl", 0);
  fs.append("/r/a.jsonl", edited);
  EXPECT_THAT(pass(), Contains("restarted 0 a.jsonl"));
  pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, edited);
}

// Case 13, with the directory's entry replaced as an editor does.
TEST_F(CatalogueTest, EditedOldRecordsInANewFileOfTheSameNameAreReadAnew) {
  fs.create("/r/a.jsonl", lines("line", 100));
  pass();
  const std::string edited = "x" + lines("line", 100) + "more\n";
  fs.create("/r/a.jsonl.swap", edited);
  fs.rename("/r/a.jsonl.swap", "/r/a.jsonl");
  for (int i = 0; i < 4; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, edited);
}

// Case 47.
TEST_F(CatalogueTest, AStaleHandleIsOpenedAnewByItsPath) {
  fs.create("/r/a.jsonl", "one\n");
  pass();
  fs.make_handles_stale();
  fs.append("/r/a.jsonl", "two\n");
  EXPECT_THAT(pass(), ElementsAre("read_error a.jsonl"));
  pass();
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, "one\ntwo\n");
  EXPECT_EQ(sink.total, 8U);
}

// Case 47: short reads and stale handles at once, in the middle of a file.
TEST_F(CatalogueTest, StaleHandlesAndShortReadsLoseNothing) {
  start({.chunk_bytes = 300});
  fs.short_reads(7);
  fs.create("/r/a.jsonl", lines("line", 500));
  for (int i = 0; i < 40; ++i) {
    scan();
    tailer->read(sink);
    fs.make_handles_stale();
  }
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, lines("line", 500));
}

// Case 49: an object appears as a whole when its writer closes it, and what was open is stale once
// it is overwritten.
TEST_F(CatalogueTest, AnObjectStoreShowsWholeObjectsAndMakesOldHandlesStale) {
  fs.remote(true);
  fs.births(false);
  std::string content;
  for (int i = 0; i < 5; ++i) {
    content += lines("upload " + std::to_string(i), 20);
    fs.create("/r/a.jsonl", content);  // another object under the same key
    fs.make_handles_stale();
    for (int j = 0; j < 3; ++j) pass();
  }
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, content);
  EXPECT_EQ(sink.total, content.size()) << "what was read before was read again";
}

// Case 49: while the object is being replaced it cannot be opened.
TEST_F(CatalogueTest, AnObjectThatCannotBeOpenedForAWhileIsTriedAgain) {
  fs.remote(true);
  fs.create("/r/a.jsonl", "one\n");
  fs.fail_open("/r/a.jsonl", "open: Input/output error");
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.total, 0U);
  fs.heal();
  for (int i = 0; i < 5; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, "one\n");
}

// Case 50: a file system that does not answer for an hour shows nothing of what happens there.
TEST_F(CatalogueTest, ARootThatDoesNotAnswerIsLeftAsItIs) {
  start({}, {{"/far", "far"}, {"/near", "near"}});
  fs.create("/far/a.jsonl", "far\n");
  fs.create("/near/a.jsonl", "near\n");
  pass();
  fs.fall_silent("/far");
  fs.append("/far/a.jsonl", "more\n");
  fs.create("/far/b.jsonl", "new\n");
  for (int i = 0; i < 3600; ++i) {
    fs.append("/near/a.jsonl", "x\n");
    ASSERT_THAT(pass(), ElementsAre("data a.jsonl")) << "the other root goes on";
  }
  EXPECT_THAT(tailer->missing_roots(), IsEmpty());
  EXPECT_EQ(sink.file("/far/a.jsonl").finished, 0);
  fs.answer_again();
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.file("/far/a.jsonl").bytes, "far\nmore\n");
  EXPECT_EQ(sink.file("/far/b.jsonl").bytes, "new\n");
  EXPECT_THAT(sink.file("/far/a.jsonl").earlier, IsEmpty());
}

constexpr int kAlways = 1'000'000;

// Case 48: attributes go back for a while, as where another server answers. The bytes are there.
TEST_F(CatalogueTest, ASizeThatGoesBackForAWhileIsNoTruncation) {
  for (const bool remote : {false, true}) {
    fs.remote(remote);
    for (const std::size_t shown : {0, 50, 600}) {
      const std::string path =
          (remote ? "/r/remote" : "/r/local") + std::to_string(shown) + ".jsonl";
      fs.create(path, lines("line", 100));
      for (int i = 0; i < 3; ++i) pass();
      fs.lag(path, shown, kAlways);
      for (int i = 0; i < 10; ++i) EXPECT_THAT(pass(), IsEmpty()) << path << i;
      fs.append(path, "more\n");
      for (int i = 0; i < 10; ++i) pass();
      fs.heal();
      for (int i = 0; i < 3; ++i) pass();
      EXPECT_EQ(sink.file(path).bytes, lines("line", 100) + "more\n") << path;
      EXPECT_THAT(sink.file(path).earlier, IsEmpty());
    }
  }
}

// Case 48: on a network file system a truncation must last, as what was read may come back.
TEST_F(CatalogueTest, ATruncationOnANetworkFileSystemCountsAfterFourSeconds) {
  fs.remote(true);
  fs.create("/r/a.jsonl", lines("line", 100));
  pass();
  fs.truncate("/r/a.jsonl", 0);
  fs.append("/r/a.jsonl", "new\n");
  for (int i = 0; i < 4; ++i) EXPECT_THAT(pass(), IsEmpty()) << i;
  EXPECT_THAT(pass(), Contains("restarted 0 a.jsonl"));
  pass();
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, "new\n");
}

// Case 48: a file that has a successor is read to its real end first, however short it appears.
TEST_F(CatalogueTest, AFileWhoseSizeLagsIsReadToItsEndBeforeTheNextOne) {
  const std::string first = "/r/system/incremental/1591748100.algo-1.json";
  const std::string second = "/r/system/incremental/1591748160.algo-1.json";
  fs.remote(true);
  fs.create(first, lines("first", 20));
  pass();
  fs.append(first, lines("more", 20));
  fs.lag(first, lines("first", 20).size(), kAlways);
  fs.create(second, "second\n");
  Calls calls;
  for (int i = 0; i < 5; ++i) {
    for (const std::string& call : pass()) calls.push_back(call);
  }
  EXPECT_THAT(calls, ElementsAre("data 1591748100.algo-1.json", "finished 1591748100.algo-1.json",
                                 "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json"));
  EXPECT_EQ(sink.file(first).bytes, lines("first", 20) + lines("more", 20));
}

// Case 3, as on overlayfs: inode numbers are used again, and there are no generation numbers.
TEST_F(CatalogueTest, AnInodeNumberUsedAgainWhileNobodyLookedIsAnotherFile) {
  fs.reuse_inode_numbers(true);
  fs.create("/r/a.jsonl", lines("old", 100));
  resume("/r/a.jsonl");
  const auto inode = fs.inode_number("/r/a.jsonl");
  fs.unlink("/r/a.jsonl");
  fs.create("/r/a.jsonl", lines("new", 200));
  ASSERT_EQ(fs.inode_number("/r/a.jsonl"), inode);
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.files.rbegin()->second.bytes, lines("new", 200)) << "no byte is skipped";
}

// Case 3, without birth times.
TEST_F(CatalogueTest, AnInodeNumberUsedAgainWithoutBirthTimesIsAnotherFile) {
  fs.reuse_inode_numbers(true);
  fs.births(false);
  fs.create("/r/a.jsonl", lines("old", 100));
  resume("/r/a.jsonl");
  fs.unlink("/r/a.jsonl");
  fs.create("/r/a.jsonl", lines("new", 200));
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.files.rbegin()->second.bytes, lines("new", 200)) << "no byte is skipped";
}

// Case 95: NULs at the end are bytes that are still to come. The file is read once, in order.
class HoleAtTheEnd : public CatalogueTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  static constexpr const char* kPath = "/r/a.jsonl";

  // The bytes that are written next stand in place of NULs that were seen before.
  void fill(const std::string& text) {
    fs.truncate(kPath, written.size() + GetParam());
    EXPECT_THAT(pass(), IsEmpty());
    fs.write_at(kPath, written.size(), text);
    written += text;
    pass();
    EXPECT_EQ(sink.file(kPath).bytes, written);
  }
  std::string written;
};

TEST_P(HoleAtTheEnd, IsReadOnceItIsFilled) {
  fs.create(kPath);
  for (int i = 0; i < 5; ++i) fill(lines("page " + std::to_string(i), 20));
  EXPECT_THAT(sink.file(kPath).earlier, IsEmpty());
}

TEST_P(HoleAtTheEnd, EndsNoFileThatIsRotated) {
  fs.create(kPath);
  fill(lines("page", 20));
  fs.rename(kPath, "/r/a.jsonl.1");
  fs.create(kPath, lines("new", 20));
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.jsonl.1").finished, 1);
  EXPECT_EQ(sink.file("/r/a.jsonl.1").bytes, written);
  EXPECT_EQ(sink.file(kPath).bytes, lines("new", 20));
}

TEST_P(HoleAtTheEnd, IsReadIfSomethingFollowsIt) {
  fs.create(kPath, lines("before", 3));
  pass();
  fs.truncate(kPath, lines("before", 3).size() + GetParam());
  pass();
  fs.append(kPath, "after\n");
  pass();
  EXPECT_EQ(sink.file(kPath).bytes, lines("before", 3) + std::string(GetParam(), '\0') + "after\n");
}

INSTANTIATE_TEST_SUITE_P(Sizes, HoleAtTheEnd, ::testing::Values(400, 4096, 3'000'000));

}  // namespace trainwatch::test::tailer_catalogue_test

// SPDX-License-Identifier: Apache-2.0
// Renamed, cut, rewritten, replaced, deleted and failing files.
#include "pipeline/tail/tailer.h"
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_change_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kOpen = "/r/framework/0-algo-1_pythontimeline.json.tmp";
const std::string kClosed =
    "/r/framework/pevents/2026112104/1795236016087300_0-algo-1_pythontimeline.json";
const std::string kClosedName = "1795236016087300_0-algo-1_pythontimeline.json";

// Long enough that a rewritten file cannot pass for one that was cut.
const std::string kLine = R"({"name": "Step:ModeKeys.TRAIN", "ph": "X", "ts": 5869},)";

TEST_F(TailerTest, ARenamedFileKeepsItsPosition) {
  fs.create(kOpen, "[\n" + kLine);
  pass();
  fs.append(kOpen, "\n" + kLine);
  fs.rename(kOpen, kClosed);
  EXPECT_THAT(pass(), ElementsAre("renamed " + kClosedName, "data " + kClosedName));
  EXPECT_EQ(sink.file(kClosed).bytes, fs.content(kClosed));
  EXPECT_EQ(sink.total, fs.content(kClosed).size());
}

// smdebug's close(): takes ",\n" back, writes "\n]", renames; the size is the same again. Then it
// opens the next file under the old name.
TEST_F(TailerTest, ATimelineIsClosedAndTheNextBegins) {
  fs.create(kOpen, "[\n" + kLine + "\n");
  pass();
  fs.truncate(kOpen, fs.content(kOpen).size() - 2);
  fs.append(kOpen, "\n]");
  fs.rename(kOpen, kClosed);
  fs.create(kOpen, "[\n");
  EXPECT_THAT(pass(), ElementsAre("renamed " + kClosedName, "cut_back 2 " + kClosedName,
                                  "data " + kClosedName, "finished " + kClosedName,
                                  "opened 0-algo-1_pythontimeline.json.tmp",
                                  "data 0-algo-1_pythontimeline.json.tmp"));
  EXPECT_EQ(sink.file(kClosed).bytes, fs.content(kClosed));
  EXPECT_EQ(sink.file(kClosed).lane, sink.file(kOpen).lane);
  EXPECT_THAT(pass(), IsEmpty());
}

TEST_F(TailerTest, AWriterThatRenamesWhileTheTailerLooks) {
  fs.create(kOpen, "[\n" + kLine);
  fs.create(kClosed, "[\n]");
  pass();
  const std::string later =
      "/r/framework/pevents/2026112104/1795236016987300_0-algo-1_pythontimeline.json";
  bool listed = false;
  fs.before_list([&](const std::string& directory) {
    if (directory == "/r/framework/pevents/2026112104") listed = true;
    if (directory != "/r/z" || !listed) return;
    fs.append(kOpen, "\n]");
    fs.rename(kOpen, later);
    fs.create(kOpen, "[\n" + kLine);
    fs.before_list(nullptr);
  });
  fs.make_directory("/r/z");
  pass();  // the first look saw the old file nowhere
  EXPECT_EQ(sink.file(later).bytes, fs.content(later));
  EXPECT_EQ(sink.file(later).finished, 1);
  EXPECT_EQ(sink.file(kOpen).bytes, fs.content(kOpen));
  EXPECT_EQ(sink.total, fs.content(later).size() + fs.content(kOpen).size() + 3);
}

// Kineto: unlink(path), rename(path.tmp, path).
TEST_F(TailerTest, AFinishedProfilerFileTakesThePlaceOfAnOldOne) {
  const std::string path = "/r/trace.json";
  fs.create(path, "old " + kLine);
  pass();
  fs.create(path + ".tmp", "new " + kLine);
  EXPECT_THAT(pass(),
              ElementsAre("finished trace.json", "opened trace.json.tmp", "data trace.json.tmp"));
  fs.append(path + ".tmp", "}");
  fs.unlink(path);
  fs.rename(path + ".tmp", path);
  EXPECT_THAT(pass(), ElementsAre("renamed trace.json", "data trace.json"));
  ASSERT_EQ(sink.files.size(), 2U);
  EXPECT_EQ(sink.files.begin()->second.bytes, "old " + kLine);
  EXPECT_EQ(sink.files.rbegin()->second.bytes, "new " + kLine + "}");
}

// A rename from a directory not listed yet into one that was listed already hides a file for one
// scan.
TEST_F(TailerTest, AFileMissedByOneScanIsNotFinished) {
  fs.create("/r/b/x.json", "x");
  fs.make_directory("/r/a");
  pass();
  fs.before_list([&](const std::string& directory) {
    if (directory != "/r/b") return;
    fs.append("/r/b/x.json", "y");
    fs.rename("/r/b/x.json", "/r/a/x.json");
  });
  EXPECT_THAT(pass(), ElementsAre("data x.json"));
  fs.before_list(nullptr);
  EXPECT_THAT(pass(), ElementsAre("renamed x.json"));
  EXPECT_EQ(sink.file("/r/a/x.json").finished, 0);
}

TEST_F(TailerTest, AFileReplacedAfterItsSizeWasTakenIsNotTakenForTheOldOne) {
  start({.max_open_files = 1});
  fs.create("/r/a.json", kLine);
  fs.create("/r/b.json", "x");
  pass();
  fs.append("/r/a.json", "lost");
  scan();
  fs.create("/r/a.json", "other" + kLine);
  EXPECT_THAT(drain(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("finished a.json", "opened a.json", "data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, "other" + kLine);
}

class CutBack : public TailerTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(CutBack, IsReportedAndReadingContinuesAtTheNewEnd) {
  fs.create("/r/a.json", "[" + kLine + ", ");
  pass();
  fs.truncate("/r/a.json", fs.content("/r/a.json").size() - GetParam());
  EXPECT_THAT(pass(), ElementsAre("cut_back " + std::to_string(GetParam()) + " a.json"));
  fs.append("/r/a.json", "]");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, fs.content("/r/a.json"));
}
INSTANTIATE_TEST_SUITE_P(OneOrTwoBytes, CutBack, ::testing::Values(1, 2));

// Seen only after ']' was written: one byte shorter, but two were taken back.
TEST_F(TailerTest, WhatIsCutBackIsTheBytesThatDiffer) {
  fs.create("/r/a.json", "[" + kLine + ", ");
  pass();
  fs.truncate("/r/a.json", fs.content("/r/a.json").size() - 2);
  fs.append("/r/a.json", "]");
  EXPECT_THAT(pass(), ElementsAre("cut_back 2 a.json", "data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, fs.content("/r/a.json"));
}

// torch's close(): takes ", " back and writes "]". A read that has begun by then gets zeros.
TEST_F(TailerTest, AFileThatIsTruncatedWhileItIsRead) {
  fs.create(kOpen, "[" + kLine + " ");
  fs.truncate_during_read(kOpen, fs.content(kOpen).size() - 2);
  pass();
  EXPECT_EQ(sink.file(kOpen).bytes, fs.content(kOpen));
  fs.append(kOpen, "]");
  pass();
  EXPECT_EQ(sink.file(kOpen).bytes, fs.content(kOpen));
}

TEST_F(TailerTest, AFileThatIsTruncatedWhileItsKnownEndIsRead) {
  fs.create(kOpen, "[" + kLine + " ");
  pass();
  fs.truncate_during_read(kOpen, fs.content(kOpen).size() - 2);
  fs.append(kOpen, "]");
  EXPECT_THAT(pass(), ElementsAre("cut_back 2 0-algo-1_pythontimeline.json.tmp",
                                  "data 0-algo-1_pythontimeline.json.tmp"));
  EXPECT_EQ(sink.file(kOpen).bytes, fs.content(kOpen));
  EXPECT_EQ(sink.total, fs.content(kOpen).size() + 2) << "nothing is read again";
}

TEST_F(TailerTest, ZerosThatStayAreReadOnceSomethingFollows) {
  fs.create(kOpen, "[" + kLine + std::string(5000, '\0'));
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(sink.file(kOpen).bytes, "[" + kLine);
  fs.append(kOpen, kLine);
  pass();
  EXPECT_EQ(sink.file(kOpen).bytes, fs.content(kOpen));
}

TEST_F(TailerTest, AHeaderThatIsTakenBack) {
  fs.create("/r/a.json", "[\n");
  pass();
  fs.truncate("/r/a.json", 0);
  EXPECT_THAT(pass(), ElementsAre("cut_back 2 a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, "");
}

TEST_F(TailerTest, ATruncatedFileIsReadFromItsBeginning) {
  fs.create("/r/a.json", kLine + kLine);
  pass();
  fs.truncate("/r/a.json", 0);
  EXPECT_THAT(pass(), ElementsAre("restarted 0 a.json"));
  fs.append("/r/a.json", "new");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, "new");
  EXPECT_THAT(sink.file("/r/a.json").earlier, ElementsAre(kLine + kLine));
}

TEST_F(TailerTest, TruncatedAndGrownPastTheOldEndBetweenTwoPasses) {
  fs.create("/r/a.json", kLine);
  pass();
  fs.truncate("/r/a.json", 0);
  fs.append("/r/a.json", "other " + kLine + kLine);
  EXPECT_THAT(pass(), ElementsAre("restarted 0 a.json", "data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, fs.content("/r/a.json"));
}

TEST_F(TailerTest, KnownBytesThatWereTruncatedUnreadAreCounted) {
  start({.chunk_bytes = 50});
  fs.create("/r/a.json", std::string(120, 'x'));
  scan();
  ASSERT_TRUE(tailer->read(sink));
  fs.truncate("/r/a.json", 0);
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json", "restarted 70 a.json"));
}

TEST_F(TailerTest, ADeletedFileIsReadToItsEndAndGivenBack) {
  start({.chunk_bytes = 8});
  fs.create("/r/a.json", std::string(20, 'x'));
  scan();
  ASSERT_TRUE(tailer->read(sink));
  fs.append("/r/a.json", "last");
  fs.unlink("/r/a.json");
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json", "finished a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, std::string(20, 'x') + "last");
  for (int i = 0; i < 10; ++i) EXPECT_THAT(pass(), IsEmpty());
  EXPECT_EQ(fs.open_files(), 0U);
  EXPECT_THAT(tailer->files(), IsEmpty());
}

TEST_F(TailerTest, AReplacedFileIsFinishedBeforeTheNewOneBegins) {
  fs.create("/r/a.json", "old");
  pass();
  fs.append("/r/a.json", " end");
  fs.rename("/r/a.json", "/r/a.old");
  fs.create("/r/a.json", "new");
  EXPECT_THAT(pass(),
              ElementsAre("data a.json", "finished a.json", "opened a.json", "data a.json"));
  fs.append("/r/a.old", " late");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  ASSERT_EQ(sink.files.size(), 2U);
  EXPECT_EQ(sink.files.begin()->second.bytes, "old end late");
  EXPECT_EQ(sink.files.begin()->second.finished, 1);
  EXPECT_EQ(sink.files.rbegin()->second.bytes, "new");
}

// The writer holds on to a rotated file for a while.
TEST_F(TailerTest, ARotatedFileIsReadOnUntilItHasRested) {
  fs.create("/r/a.json", "old\n");
  pass();
  fs.rename("/r/a.json", "/r/a.json.1");
  fs.create("/r/a.json", "new");
  EXPECT_THAT(pass(), ElementsAre("renamed a.json.1", "opened a.json", "data a.json"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(pass(), IsEmpty());
  fs.append("/r/a.json.1", "late\n");
  EXPECT_THAT(pass(), ElementsAre("data a.json.1"));
  for (int i = 0; i < 7; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.json.1").bytes, "old\nlate\n");
  EXPECT_EQ(sink.file("/r/a.json.1").finished, 1);
  EXPECT_EQ(sink.file("/r/a.json").finished, 0);
}

TEST_F(TailerTest, ARotatedFileThatEndsInARecordRestsForLonger) {
  start({.gone = std::chrono::seconds(20)});
  fs.create("/r/a.json", "half a");
  pass();
  fs.rename("/r/a.json", "/r/a.json.1");
  fs.create("/r/a.json", "new");
  for (int i = 0; i < 15; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.json.1").finished, 0);
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(sink.file("/r/a.json.1").finished, 1);
}

TEST_F(TailerTest, AnInodeNumberUsedAgainIsAnotherFile) {
  start({.max_open_files = 1});  // an open file would keep its number
  fs.reuse_inode_numbers(true);
  fs.create("/r/a.json", "old");
  fs.create("/r/b.json", "x");
  pass();
  const FileIdentity old = fs.stat("/r/a.json")->identity;
  fs.unlink("/r/a.json");
  fs.create("/r/a.json", "new, and longer");
  ASSERT_EQ(fs.stat("/r/a.json")->identity.inode, old.inode);
  EXPECT_THAT(pass(), ElementsAre("finished a.json", "opened a.json", "data a.json"));
  EXPECT_EQ(sink.files.rbegin()->second.bytes, "new, and longer");
}

TEST_F(TailerTest, WithoutBirthTimesTheContentDecides) {
  start({.max_open_files = 1});
  fs.births(false);
  fs.reuse_inode_numbers(true);
  fs.create("/r/a.json", "old");
  fs.create("/r/b.json", "x");
  pass();
  fs.unlink("/r/a.json");
  fs.create("/r/a.json", "new, and longer");
  EXPECT_THAT(pass(), ElementsAre("restarted 0 a.json", "data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, "new, and longer");
}

TEST_F(TailerTest, AFileMovedOutAndBackIsNotReadAgain) {
  fs.create("/r/a.json", kLine);
  pass();
  fs.rename("/r/a.json", "/away/a.json");
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(fs.open_files(), 0U);
  fs.append("/away/a.json", "more");
  fs.rename("/away/a.json", "/r/b.json");
  EXPECT_THAT(pass(), ElementsAre("renamed b.json", "data b.json"));
  EXPECT_EQ(sink.file("/r/b.json").bytes, kLine + "more");
}

TEST_F(TailerTest, ADirectoryThatCannotBeListedKeepsItsFiles) {
  fs.create("/r/s/a.json", "x");
  pass();
  fs.fail_list("/r/s", "list: Input/output error");
  for (int i = 0; i < 5; ++i) EXPECT_THAT(pass(), IsEmpty());
  fs.append("/r/s/a.json", "y");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
}

TEST_F(TailerTest, AReadErrorIsReportedOnceAndTriedAgain) {
  fs.create("/r/a.json", "x");
  fs.create("/r/b.json", "b");
  fs.fail_read("/r/a.json", "read: Input/output error");
  EXPECT_THAT(pass(),
              ElementsAre("opened a.json", "read_error a.json", "opened b.json", "data b.json"));
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_EQ(tailer->files().front().error, "read: Input/output error");
  EXPECT_EQ(tailer->unread_bytes(), 1U);
  fs.heal();
  EXPECT_THAT(pass(), IsEmpty());  // the second try was in vain, the third comes later
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  EXPECT_EQ(tailer->files().front().error, "");
  fs.append("/r/a.json", "y");
  fs.fail_read("/r/a.json", "read: Input/output error");
  EXPECT_THAT(pass(), ElementsAre("read_error a.json"));
  fs.heal();
  pass();
  EXPECT_EQ(sink.file("/r/a.json").bytes, "xy");
}

TEST_F(TailerTest, AFileThatKeepsFailingIsTriedLessAndLessOften) {
  fs.create("/r/a.json", "x");
  fs.fail_read("/r/a.json", "read: Input/output error");
  pass();
  const std::uint64_t before = fs.reads();
  for (int i = 0; i < 62; ++i) pass();
  EXPECT_EQ(fs.reads() - before, 5U);  // after 1, 3, 7, 15, 31 and 63 scans
  for (int i = 0; i < 600; ++i) pass();
  EXPECT_EQ(fs.reads() - before, 15U);  // then every 60th
}

TEST_F(TailerTest, APermissionErrorIsReportedOnceAndTriedAgain) {
  fs.create("/r/a.json", "x");
  fs.fail_open("/r/a.json", "open: Permission denied");
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "read_error a.json"));
  EXPECT_THAT(pass(), IsEmpty());
  fs.heal();
  pass();
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
}

}  // namespace trainwatch::test::tailer_change_test

// SPDX-License-Identifier: Apache-2.0
// Finding, ordering and reading files.
#include "pipeline/tail/tailer.h"

#include <functional>
#include <string>

#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(TailerTest, ReadsAFileAndThenWhatIsAppended) {
  fs.create("/r/a.json", "one");
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json"));
  EXPECT_THAT(pass(), IsEmpty());
  fs.append("/r/a.json", " two");
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, "one two");
  EXPECT_EQ(sink.total, 7U);
}

TEST_F(TailerTest, AnEmptyFileIsOpenedWithItsFirstByte) {
  fs.create("/r/a.json");
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_EQ(tailer->files().size(), 1U);
  fs.append("/r/a.json", "x");
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json"));
}

TEST_F(TailerTest, ReadsInChunksAndSaysWhenItIsAtTheEnd) {
  start({.chunk_bytes = 4});
  fs.create("/r/a.json", "0123456789");
  scan();
  EXPECT_EQ(tailer->unread_bytes(), 10U);
  EXPECT_TRUE(tailer->read(sink));
  EXPECT_EQ(tailer->unread_bytes(), 6U);
  drain();
  EXPECT_FALSE(tailer->read(sink));
  EXPECT_EQ(tailer->unread_bytes(), 0U);
  EXPECT_EQ(sink.file("/r/a.json").bytes, "0123456789");
}

TEST_F(TailerTest, ShortReadsLoseNothing) {
  fs.short_reads(7);
  fs.create("/r/a.json", std::string(100, 'a') + std::string(100, 'b'));
  pass();
  fs.append("/r/a.json", std::string(100, 'c'));
  EXPECT_THAT(pass(), ElementsAre("data a.json"));
  EXPECT_EQ(sink.file("/r/a.json").bytes, fs.content("/r/a.json"));
}

TEST_F(TailerTest, OnlyTraceFilesInATreeButAnyNameAsARoot) {
  fs.create("/r/a.json", "a");
  fs.create("/r/a.json.corrupt", "no");
  fs.create("/r/deep/er/b.jsonl", "b");
  fs.create("/r/events.tfevents", "no");
  fs.create("/x/metrics.log", "c");
  start({}, {{"/r", "r"}, {"/x/metrics.log", "m"}});
  pass();
  EXPECT_EQ(sink.files.size(), 3U);
  EXPECT_EQ(sink.file("/x/metrics.log").source, "m");
  EXPECT_EQ(sink.file("/r/deep/er/b.jsonl").source, "r");
  EXPECT_THAT(tailer->directories(), ElementsAre("/r", "/r/deep", "/r/deep/er", "/x"));
}

TEST_F(TailerTest, DepthIsBounded) {
  fs.create("/r/1/2/in.json", "x");
  fs.create("/r/1/2/3/out.json", "x");
  start({.max_depth = 2});
  EXPECT_THAT(pass(), ElementsAre("opened in.json", "data in.json"));
}

TEST_F(TailerTest, TracesOfIncidentsBesideAStateArePassedOver) {
  fs.create("/r/a.json", "x");
  fs.create("/r/trainwatch-data/state.db", "rows");
  fs.create("/r/trainwatch-data/state.db.lock", "");
  fs.create("/r/trainwatch-data/b.json", "x");
  fs.create("/r/trainwatch-data/incidents/no.json", "no");
  fs.create("/r/other/incidents/c.json", "x");
  start();
  EXPECT_THAT(pass(),
              ::testing::UnorderedElementsAre("opened a.json", "data a.json", "opened b.json",
                                              "data b.json", "opened c.json", "data c.json"));
}

TEST_F(TailerTest, ARootThatDoesNotExistYetIsLookedForAgain) {
  EXPECT_THAT(pass(), IsEmpty());
  fs.create("/r/a.json", "x");
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json"));
}

TEST_F(TailerTest, AFileInSeveralRootsIsReadOnceAndBelongsToTheInnermost) {
  fs.create("/r/s/a.json", "x");
  fs.create("/r/s/b.json", "x");
  fs.create("/r/c.json", "x");
  std::vector<WatchRoot> roots = {
      {"/r", "r"}, {"/r/s", "s"}, {"/r/s", "again"}, {"/r/s/a.json", "a"}};
  for (int order = 0; order < 2; ++order) {
    sink = {};
    start({}, roots);
    EXPECT_THAT(pass(), ElementsAre("opened c.json", "data c.json", "opened a.json", "data a.json",
                                    "opened b.json", "data b.json"));
    EXPECT_EQ(sink.file("/r/c.json").source, "r");
    EXPECT_EQ(sink.file("/r/s/a.json").source, "a");
    EXPECT_EQ(sink.file("/r/s/b.json").source, order == 0 ? "s" : "again");
    EXPECT_THAT(tailer->directories(), ElementsAre("/r", "/r/s", "/r/s"));
    std::reverse(roots.begin(), roots.end());
  }
}

TEST_F(TailerTest, AHardLinkIsReadOnceAndIsNoRename) {
  fs.create("/r/m.json", "x");
  fs.link("/r/m.json", "/r/z.json");
  EXPECT_THAT(pass(), ElementsAre("opened m.json", "data m.json"));
  fs.link("/r/m.json", "/r/a.json");
  fs.append("/r/z.json", "y");
  EXPECT_THAT(pass(), ElementsAre("data m.json"));
  EXPECT_EQ(sink.file("/r/m.json").bytes, "xy");
  const auto& skipped = tailer->skipped().first();
  ASSERT_EQ(skipped.size(), 2U);
  EXPECT_EQ(skipped[0].path, "/r/a.json") << "whichever name the listing shows first";
  EXPECT_EQ(skipped[1].path, "/r/z.json");
  fs.unlink("/r/m.json");
  EXPECT_THAT(pass(), ElementsAre("renamed a.json"));
}

TEST_F(TailerTest, LanesAdvanceTogetherByStamp) {
  fs.create("/r/system/incremental/1591748160.algo-1.json", "2");
  fs.create("/r/system/incremental/1591748100.algo-2.json", "1");
  fs.create("/r/system/incremental/1591748100.algo-1.json", "1");
  fs.create("/r/framework/0-algo-1_pythontimeline.json.tmp", "4");
  fs.create("/r/framework/pevents/2020061000/1591748130000000_0-algo-1_pythontimeline.json", "3");
  const auto calls = pass();
  EXPECT_THAT(calls, ElementsAre("opened 1591748100.algo-1.json", "data 1591748100.algo-1.json",
                                 "finished 1591748100.algo-1.json",  // 1591748160 is there already
                                 "opened 1591748100.algo-2.json", "data 1591748100.algo-2.json",
                                 "opened 1591748130000000_0-algo-1_pythontimeline.json",
                                 "data 1591748130000000_0-algo-1_pythontimeline.json",
                                 "finished 1591748130000000_0-algo-1_pythontimeline.json",
                                 "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json",
                                 "opened 0-algo-1_pythontimeline.json.tmp",
                                 "data 0-algo-1_pythontimeline.json.tmp"));
  EXPECT_EQ(sink.file("/r/framework/0-algo-1_pythontimeline.json.tmp").lane,
            sink.file("/r/framework/pevents/2020061000/"
                      "1591748130000000_0-algo-1_pythontimeline.json")
                .lane);
}

TEST_F(TailerTest, AFileIsFinishedWhenItsLaneGoesOnAndStillReadWhenItGrows) {
  const std::string old = "/r/system/1591748100.algo-1.json";
  fs.create(old, "a");
  pass();
  fs.append(old, "b");
  fs.create("/r/system/1591748160.algo-1.json", "c");
  EXPECT_THAT(pass(), ElementsAre("data 1591748100.algo-1.json", "finished 1591748100.algo-1.json",
                                  "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json"));
  EXPECT_EQ(fs.open_files(), 1U);
  fs.append(old, "late");
  EXPECT_THAT(pass(), ElementsAre("data 1591748100.algo-1.json"));
  EXPECT_EQ(sink.file(old).bytes, "ablate");
  EXPECT_EQ(sink.file(old).finished, 1);
  EXPECT_EQ(fs.open_files(), 1U);
}

// A part of a file whose successor was copied before it. Returns its path.
std::string copy_after_successor(ModelFileSystem& fs, const std::function<void()>& pass) {
  const std::string old = "/r/system/1591748100.algo-1.json";
  pass();
  fs.create("/r/system/1591748160.algo-1.json", "c\n");
  pass();
  fs.create(old, "{\"a\"");
  return old;
}

// `cp -r` of a finished job takes the files in any order.
TEST_F(TailerTest, AFileThatIsCopiedAfterItsSuccessorIsFinishedWhenItIsWhole) {
  const std::string old = copy_after_successor(fs, [this] { pass(); });
  EXPECT_THAT(pass(), ElementsAre("opened 1591748100.algo-1.json", "data 1591748100.algo-1.json"));
  fs.append(old, ": 1}\n");
  EXPECT_THAT(pass(),
              ElementsAre("data 1591748100.algo-1.json", "finished 1591748100.algo-1.json"));
}

TEST_F(TailerTest, AFileThatIsCopiedAfterItsSuccessorIsFinishedWhenItRests) {
  copy_after_successor(fs, [this] { pass(); });
  pass();
  scan(TailLimits{}.linger);
  EXPECT_THAT(drain(), ElementsAre("finished 1591748100.algo-1.json"));
}

// Sizes are taken after all names: what is written to a file before its successor appears is read
// before the successor.
TEST_F(TailerTest, AWriterThatMovesOnWhileTheTailerLooks) {
  const std::string old = "/r/system/a/1591748100.algo-1.json";
  fs.create(old, "a");
  fs.make_directory("/r/system/b");
  pass();
  fs.before_list([&](const std::string& directory) {
    if (directory != "/r/system/b") return;
    fs.append(old, "b");
    fs.create("/r/system/b/1591748160.algo-1.json", "c");
    fs.before_list(nullptr);
  });
  EXPECT_THAT(pass(), ElementsAre("data 1591748100.algo-1.json", "finished 1591748100.algo-1.json",
                                  "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json"));
  EXPECT_EQ(sink.file(old).bytes, "ab");
}

TEST_F(TailerTest, RefreshSeesGrowthWithoutListing) {
  fs.create("/r/a.json", "x");
  pass();
  const auto lists = fs.lists();
  fs.append("/r/a.json", "y");
  fs.create("/r/b.json", "not yet");
  tailer->refresh();
  EXPECT_THAT(drain(), ElementsAre("data a.json"));
  EXPECT_EQ(fs.lists(), lists);
  EXPECT_EQ(sink.file("/r/a.json").bytes, "xy");
}

TEST_F(TailerTest, RefreshSeesFilesWhoseDescriptorWasClosed) {
  start({.max_open_files = 1});
  for (const char* path : {"/r/a.json", "/r/b.json", "/r/c.json"}) fs.create(path, "x");
  pass();
  for (const char* path : {"/r/a.json", "/r/b.json", "/r/c.json"}) fs.append(path, "y");
  tailer->refresh();
  EXPECT_THAT(drain(), ElementsAre("data a.json", "data b.json", "data c.json"));
  EXPECT_EQ(fs.open_files(), 1U);
}

TEST_F(TailerTest, AnIdleFileIsNotRead) {
  fs.create("/r/a.json", "x");
  pass();
  const auto reads = fs.reads();
  pass();
  tailer->refresh();
  drain();
  EXPECT_EQ(fs.reads(), reads);
}

TEST_F(TailerTest, OneReadTakesWhatWasSeen) {
  fs.create("/r/a.json", "x");
  pass();
  const auto reads = fs.reads();
  fs.append("/r/a.json", "y");
  tailer->refresh();
  drain();
  EXPECT_EQ(fs.reads(), reads + 1);
  EXPECT_EQ(sink.file("/r/a.json").bytes, "xy");
}

TEST_F(TailerTest, OpenFilesAreBounded) {
  start({.max_open_files = 3});
  for (int i = 0; i < 10; ++i) fs.create("/r/" + std::to_string(i) + ".json", "x");
  pass();
  EXPECT_LE(fs.open_files(), 3U);
  for (int i = 0; i < 10; ++i) fs.append("/r/" + std::to_string(i) + ".json", "y");
  pass();
  EXPECT_LE(fs.open_files(), 3U);
  for (const auto& [id, file] : sink.files) EXPECT_EQ(file.bytes, "xy") << file.path;
}

TEST_F(TailerTest, MoreFilesThanAllowedAreReadOneAfterAnother) {
  start({.max_files = 4});
  for (int i = 0; i < 10; ++i) fs.create("/r/" + std::to_string(i) + ".json", "x");
  pass();
  EXPECT_EQ(tailer->files_dropped(), 6U);
  int passes = 1;
  for (; tailer->files_dropped() > 0; ++passes) pass();
  EXPECT_EQ(passes, 3);
  EXPECT_EQ(sink.files.size(), 10U);
  EXPECT_EQ(sink.total, 10U);
  for (int i = 0; i < 5; ++i) pass();
  EXPECT_EQ(sink.total, 10U) << "a forgotten file was read again";
  EXPECT_LE(tailer->files().size(), 4U);
}

TEST_F(TailerTest, AnEndlessLaneFitsIntoTheBound) {
  start({.max_files = 4});
  for (int i = 0; i < 100; ++i) {
    fs.create("/r/system/" + std::to_string(1591748100 + 60 * i) + ".algo-1.json", "x");
    pass();
  }
  EXPECT_EQ(sink.total, 100U);
  EXPECT_EQ(tailer->files_dropped(), 0U);
  for (const auto& [id, file] : sink.files) {
    EXPECT_EQ(file.finished, file.path.ends_with("1591754040.algo-1.json") ? 0 : 1) << file.path;
  }
}

TEST_F(TailerTest, DoneFilesAreForgottenBeyondABoundAndNotReadAgain) {
  start({.max_done_files = 3});
  const auto path = [](int i) {
    return "/r/system/" + std::to_string(1591748100 + 60 * i) + ".algo-1.json";
  };
  for (int i = 0; i < 20; ++i) {
    fs.create(path(i), "x");
    pass();
  }
  pass();
  EXPECT_EQ(tailer->files().size(), 4U) << "three done ones, and the one that is being written";
  fs.unlink(path(5));
  fs.create(path(5), "y");  // as after another mount
  fs.create("/r/0.json", "z");
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.total, 21U);
}

std::string lane_file(int hour) {
  return "/r/system/" + std::to_string(1591748100 + 3600 * hour) + ".algo-1.json";
}

TEST_F(TailerTest, DoneFilesOfDaysAgoAreForgottenButForTheLastOfTheirLane) {
  start({.done_age = std::chrono::hours(24), .done_of_lane = 3});
  for (int hour = 0; hour < 100; ++hour) {
    fs.create(lane_file(hour), "x");
    pass();
    EXPECT_EQ(tailer->files().size(), std::min(hour + 1, 27)) << "the newest, and those of a day";
  }
  for (int day = 5; day < 15; ++day) {
    fs.create(lane_file(24 * day), "x");
    pass();
  }
  EXPECT_EQ(tailer->files().size(), 5U) << "the newest, three done ones, one not done before";
  fs.create(lane_file(24 * 10 - 1), "y");  // out of order by less than those that are kept
  fs.append(lane_file(24 * 12), "z");      // done, and written to after all
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(sink.total, 112U);
}

TEST_F(TailerTest, AnOldJobThatIsReadAtOnceIsForgottenInTheSameWay) {
  start({.done_age = std::chrono::hours(24), .done_of_lane = 3});
  for (int hour = 0; hour < 100; ++hour) fs.create(lane_file(hour), "x");
  for (int i = 0; i < 4; ++i) pass();
  EXPECT_EQ(sink.total, 100U);
  EXPECT_EQ(tailer->files().size(), 26U) << "the newest, and those of a day";
}

// Forgetting a file retires all before it.
TEST_F(TailerTest, AnUnreadableFileKeepsThoseBehindIt) {
  start({.done_age = std::chrono::hours(24), .done_of_lane = 3, .hold = Nanos{0}});
  for (int day = 0; day < 10; ++day) {
    fs.create(lane_file(24 * day), "x");
    if (day == 1) fs.fail_open(lane_file(24), "Permission denied");
    pass();
  }
  EXPECT_EQ(tailer->files().size(), 9U) << "all but the first";
  fs.heal();
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(sink.file(lane_file(24)).bytes, "x");
}

TEST_F(TailerTest, AThousandFilesAreReadOnceInOrder) {
  for (int i = 0; i < 1000; ++i) {
    fs.create("/r/system/" + std::to_string(1591748100 + 60 * (i * 7 % 1000)) + ".algo-1.json",
              std::to_string(i));
  }
  pass();
  pass();
  EXPECT_EQ(sink.files.size(), 1000U);
  std::string last;
  for (const auto& [id, file] : sink.files) {
    EXPECT_LT(last, file.path);
    EXPECT_EQ(file.bytes, fs.content(file.path));
    last = file.path;
  }
}

}  // namespace trainwatch::test::tailer_test

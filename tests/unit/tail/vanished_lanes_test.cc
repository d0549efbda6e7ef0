// SPDX-License-Identifier: Apache-2.0
// Lanes of which nothing is there any more are forgotten, and their numbers are used again.
#include <set>

#include "pipeline/tail/lane_table.h"
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::vanished_lanes_test {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LaneTable, GivesEachNameItsNumber) {
  LaneTable lanes;
  const LaneId first = lanes.intern("a", Nanos{0});
  EXPECT_NE(lanes.intern("b", Nanos{0}), first);
  EXPECT_EQ(lanes.intern("a", Nanos{0}), first);
  EXPECT_EQ(lanes.name(first), "a");
}

TEST(LaneTable, ForgetsWhatWasNotThereForLongAndUsesItsNumberAgain) {
  LaneTable lanes;
  const auto gone = [](const std::string&) { return false; };
  const LaneId old = lanes.intern("a", minutes(0));
  const LaneId kept = lanes.intern("b", minutes(0));
  lanes.saw(kept, minutes(30));
  EXPECT_THAT(lanes.forget_vanished(minutes(59), hours(1), gone), IsEmpty());
  EXPECT_THAT(lanes.forget_vanished(minutes(60), hours(1), gone), ElementsAre(old));
  EXPECT_EQ(lanes.name(kept), "b");
  EXPECT_EQ(lanes.intern("c", minutes(60)), old);
  EXPECT_EQ(lanes.name(old), "c");
  EXPECT_THAT(lanes.forget_vanished(minutes(61), hours(1), gone), IsEmpty());
}

TEST(LaneTable, NumbersThatARestartLeftOutAreFree) {
  LaneTable lanes;
  lanes.restore({{LaneId{3}, "d", ""}, {LaneId{1}, "b", ""}});
  std::set<LaneId> given;
  for (const char* name : {"v", "w", "x"}) given.insert(lanes.intern(name, Nanos{0}));
  EXPECT_THAT(given, ElementsAre(LaneId{0}, LaneId{2}, LaneId{4}));
  EXPECT_EQ(lanes.name(LaneId{3}), "d");
}

class VanishedLanes : public TailerTest {
 protected:
  static std::string path(int day) {
    return "/r/system/incremental/" + std::to_string(1591748160 + 86400 * day) + ".algo-1.json";
  }
  void passes(int count) {
    for (int i = 0; i < count; ++i) {
      scan(std::chrono::minutes(1));
      drain();
    }
  }
  // Gaps between scans count in full.
  void begin() { start({.longest_gap = minutes(2)}); }
};

TEST_F(VanishedLanes, AreForgottenOnceAndComeBackAsNew) {
  begin();
  fs.create("/r/a.json", "x");
  fs.create("/r/b.json", "x");
  passes(10);
  fs.unlink("/r/a.json");
  passes(180);
  ASSERT_EQ(sink.forgotten_lanes.size(), 1U);
  EXPECT_EQ(sink.forgotten_lanes[0], sink.file("/r/a.json").lane);
  fs.create("/r/a.json", "y");
  passes(1);
  EXPECT_EQ(sink.file("/r/a.json").bytes, "y");
}

// A file that was retired to make room stays retired for as long as it is there.
TEST_F(VanishedLanes, RetiredFilesThatAreThereKeepTheirLane) {
  start({.max_done_files = 1, .longest_gap = minutes(2)});
  for (int day = 0; day < 5; ++day) fs.create(path(day), "x");
  passes(10);
  for (int day = 1; day < 5; ++day) fs.unlink(path(day));
  passes(300);
  EXPECT_THAT(sink.forgotten_lanes, IsEmpty());
  EXPECT_EQ(sink.file(path(0)).bytes, "x") << "it is not read again";
  fs.unlink(path(0));
  passes(180);
  EXPECT_EQ(sink.forgotten_lanes.size(), 1U);
}

// Its retired files may be there again.
TEST_F(VanishedLanes, ARootThatIsAwayKeepsItsLanes) {
  start({.max_done_files = 1, .longest_gap = minutes(2)});
  for (int day = 0; day < 5; ++day) fs.create(path(day), "x");
  passes(10);
  for (int day = 0; day < 5; ++day) fs.unlink(path(day));
  fs.fail_list("/r", "Input/output error");
  passes(600);
  EXPECT_THAT(sink.forgotten_lanes, IsEmpty());
}

TEST_F(VanishedLanes, ThousandsOfThemTakeNoNumbers) {
  begin();
  LaneId largest{};
  for (int job = 0; job < 300; ++job) {
    const std::string path = "/r/job-" + std::to_string(job) + ".json";
    fs.create(path, "x");
    passes(1);
    largest = std::max(largest, sink.file(path).lane);
    fs.unlink(path);
    passes(1);
  }
  EXPECT_LT(static_cast<std::uint32_t>(largest), 100U);
}

}  // namespace trainwatch::test::vanished_lanes_test

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/hang_tracker.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "trainwatch/state_rows.h"

namespace trainwatch::hang_tracker_test {
namespace {

constexpr Time kCalled = time_from_ns(1'700'000'000'000'000'000);

FlightOperation operation(std::int64_t record, bool completed) {
  FlightOperation made;
  made.record = made.sequence = record;
  made.name = "all_reduce";
  made.completed = completed;
  made.created = kCalled;
  made.timeout_ms = 600'000;
  made.inputs = made.outputs = {{1024, 1024}, {4, 4}};
  made.input_types = made.output_types = {"BFloat16", "Float"};
  made.frames = std::vector<std::string>(16, std::string(100, 'f'));
  return made;
}

// As full as they are by default: 2,000 operations, a stack with each.
RankDump full_dump(std::int32_t rank, std::int32_t ranks, std::int64_t pending = 5) {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i < ranks; ++i) all.push_back(i);
  RankDump dump{rank, kCalled + std::chrono::minutes(10), "2.9", {}};
  for (const char* const name : {"0", "1", "2", "3"}) {
    FlightGroup group{name, "a group", all, FlightProgress{500, 500 - pending}, {}};
    for (std::int64_t i = 1; i <= 500; ++i) {
      group.operations.push_back(operation(i, i <= 500 - pending));
    }
    dump.groups.push_back(std::move(group));
  }
  return dump;
}

std::size_t bytes(const StateRows& rows) {
  std::size_t sum = 0;
  for (const auto& [key, value] : rows.changed()) sum += value ? value->size() : 0;
  return sum;
}

TEST(HangTracker, SavesARankOnceAndInLittleRoom) {
  HangTracker tracker;
  StateRows nothing;
  tracker.save(nothing, false);
  tracker.add(SubjectId{1}, full_dump(0, 10'000));
  tracker.add(SubjectId{1}, full_dump(1, 10'000));
  StateRows two;
  tracker.save(two, false);
  EXPECT_EQ(two.changed().size(), 3U);
  EXPECT_LT(bytes(two), 2 * 16'000U);
  tracker.add(SubjectId{1}, full_dump(2, 10'000));
  StateRows one;
  tracker.save(one, false);
  EXPECT_EQ(one.changed().size(), 2U);
}

TEST(HangTracker, DumpsOfAnEarlierHangAreForgotten) {
  HangTracker tracker;
  tracker.add(SubjectId{1}, full_dump(0, 4));
  EXPECT_EQ(tracker.take_all().size(), 1U);
  for (const std::int32_t rank : {1, 2, 3}) {
    RankDump later = full_dump(rank, 4);
    later.written += std::chrono::hours(48);
    tracker.add(SubjectId{1}, later);
  }
  EXPECT_EQ(tracker.take_all().front().missing.size(), 1U);
  StateRows rows;
  tracker.save(rows, false);
  EXPECT_EQ(rows.changed().at("hang/1/0"), std::nullopt);
  StoredRows stored;
  for (const auto& [key, value] : rows.changed()) {
    if (value) stored.emplace(key, *value);
  }
  HangTracker loaded;
  ASSERT_TRUE(loaded.load(SavedState(stored)));
  StateRows again;
  loaded.save(again, true);
  for (const auto& [key, value] : stored) EXPECT_EQ(again.changed().at(key), value) << key;
}

// Of a job that records only what is pending, the culprit's dump is empty.
TEST(HangTracker, ACopiedDumpWithoutCallsIsOfTheSameHang) {
  HangTracker tracker;
  for (const std::int32_t rank : {0, 1, 2, 3}) {
    RankDump dump = full_dump(rank, 4);
    dump.copied = true;
    if (rank == 2) {
      dump.copied = false;
      dump.written += std::chrono::hours(24 * 365);
      for (FlightGroup& group : dump.groups) {
        group.operations.clear();
        group.progress = FlightProgress{490, 490};
      }
    }
    tracker.add(SubjectId{1}, dump);
  }
  const auto found = tracker.take_complete();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().suspects, std::set<std::int32_t>{2});
  EXPECT_EQ(found.front().waited(), std::chrono::minutes(10));
}

// What no longer fits is as if it were missing: its rank is not accused.
TEST(HangTracker, IsBounded) {
  HangTracker tracker;
  RankDump dump = full_dump(0, 16'000, 400);
  for (FlightGroup& group : dump.groups) {
    group.operations.erase(group.operations.begin(), group.operations.begin() + 480);
    for (FlightOperation& operation : group.operations) operation.frames.clear();
  }
  for (std::int32_t rank = 0; rank < 16'000; ++rank) {
    RankDump own = dump;
    own.rank = rank;
    tracker.add(SubjectId{1}, own);
  }
  const HangFinding found = tracker.take_all().front();
  EXPECT_GT(found.missing.size(), 0U);
  EXPECT_EQ(found.suspects.size(), 0U);
}

}  // namespace
}  // namespace trainwatch::hang_tracker_test

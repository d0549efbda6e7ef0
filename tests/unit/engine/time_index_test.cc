// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/time_index.h"

#include <gtest/gtest.h>

#include <random>

#include "support/engine_state.h"

namespace trainwatch::time_index_test {

constexpr FileId kFile{7};
constexpr FileId kOther{8};

EventBatch spans(std::initializer_list<std::pair<std::int64_t, std::int64_t>> from_to) {
  EventBatch batch;
  for (const auto& [from, to] : from_to) {
    Span span;
    span.start = time_from_ns(from);
    span.duration = Nanos{to - from};
    batch.emplace_back(span);
  }
  return batch;
}

TimeIndex small(std::size_t stretches = 1024) {
  return TimeIndex({.stretch_bytes = 100, .stretches = stretches, .retired = 4});
}

void keep(TimeIndex& index, StoredRows& rows, bool all) {
  StateRows changes;
  index.save(changes, all);
  test::store(changes, rows);
}

FileWindow found(const TimeIndex& index, std::int64_t from, std::int64_t to, FileId file = kFile) {
  FileWindow window;
  if (!index.find(file, from, to, window)) window.path = "none";
  return window;
}

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Ranges pairs(const std::vector<ByteRange>& ranges) {
  Ranges all;
  for (const ByteRange& range : ranges) all.emplace_back(range.begin, range.end);
  return all;
}

TEST(TimeIndexTest, OnlyStretchesThatTouchTheTimeAreRead) {
  TimeIndex index = small();
  for (std::int64_t i = 0; i < 10; ++i)
    index.add(kFile, {.end = static_cast<std::uint64_t>(i + 1) * 100, .defines = i == 0},
              spans({{i * 10, i * 10 + 9}}));
  EXPECT_EQ(pairs(found(index, 42, 55).events), (Ranges{{400, 600}}));
  EXPECT_EQ(pairs(found(index, 42, 55).definitions), (Ranges{{0, 100}}));
  EXPECT_EQ(pairs(found(index, 49, 50).events), (Ranges{{400, 600}})) << "both ends are inside";
  EXPECT_EQ(found(index, 100, 200).path, "none");
  EXPECT_EQ(found(index, 0, 5, kOther).path, "none");
}

TEST(TimeIndexTest, ALongSpanIsFoundInTheMiddleOfItsTime) {
  TimeIndex index = small();
  index.add(kFile, {.end = 100}, spans({{0, 9}}));
  index.add(kFile, {.end = 200}, spans({{10, 19}}));
  index.add(kFile, {.end = 300}, spans({{1, 30}}));  // written when it ended
  EXPECT_EQ(pairs(found(index, 12, 13).events), (Ranges{{100, 300}}));
  EXPECT_EQ(pairs(found(index, 2, 3).events), (Ranges{{0, 100}, {200, 300}}));
}

TEST(TimeIndexTest, WhatBeganBeforeAStretchIsReadFromThere) {
  TimeIndex index = small();
  index.add(kFile, {.end = 100}, spans({{0, 9}}));
  index.add(kFile, {.end = 200, .open_span = true}, spans({{10, 19}}));
  index.add(kFile, {.end = 300}, spans({{20, 29}}));
  EXPECT_EQ(pairs(found(index, 25, 25).events), (Ranges{{100, 300}}));
  EXPECT_EQ(pairs(found(index, 15, 15).events), (Ranges{{100, 200}}));
}

TEST(TimeIndexTest, AWholeFileIsOneStretch) {
  TimeIndex index = small();
  for (std::int64_t i = 0; i < 50; ++i) index.add(kFile, {.whole = true}, spans({{i, i}}));
  index.add_trace(kOther, 100, 200, 77, 3);
  EXPECT_EQ(index.stretches(), 2);
  EXPECT_TRUE(found(index, 3, 4).whole);
  EXPECT_EQ(found(index, 150, 151, kOther).base_ns, 77);
  EXPECT_EQ(found(index, 150, 151, kOther).rank, 3);
}

TEST(TimeIndexTest, ACompressedCopyTakesOver) {
  TimeIndex index = small();
  index.add(kFile, {.end = 100}, spans({{0, 9}}));
  index.superseded(kFile, kOther);
  EXPECT_EQ(found(index, 5, 5).path, "none");
  EXPECT_TRUE(found(index, 5, 5, kOther).whole);
}

TEST(TimeIndexTest, RetiredFilesAreFoundAndBounded) {
  TimeIndex index = small();
  for (std::uint32_t i = 0; i < 6; ++i) {
    index.add(FileId{i}, {.end = 50}, spans({{i, i}}));
    index.retire(FileId{i}, FileWindow{.path = std::to_string(i)});
  }
  std::vector<FileWindow> windows;
  index.find_retired(0, 10, windows);
  ASSERT_EQ(windows.size(), 4);
  EXPECT_EQ(windows.front().path, "2");
  EXPECT_EQ(pairs(windows.front().events), (Ranges{{0, 50}}));
  EXPECT_EQ(index.stretches(), 4);
  StoredRows rows;
  keep(index, rows, false);
  EXPECT_EQ(rows.size(), 4);
  TimeIndex loaded = small();
  ASSERT_TRUE(loaded.load(rows));
  loaded.forget_retired([](const FileWindow& known) { return known.path != "4"; });
  keep(loaded, rows, false);
  EXPECT_EQ(rows.size(), 1);
  windows.clear();
  loaded.find_retired(0, 10, windows);
  ASSERT_EQ(windows.size(), 1);
  EXPECT_EQ(windows.front().path, "4");
}

// A file whose events come roughly in order, in pieces of any size.
struct Written {
  struct At {
    std::uint64_t begin, end;
    std::int64_t from, to;
  };
  std::vector<At> events;
  std::uint64_t size = 0;
  std::int64_t now = 0;

  EventBatch more(std::mt19937& random) {
    EventBatch batch;
    for (auto count = random() % 5; count > 0; --count) {
      now += static_cast<std::int64_t>(random() % 10);
      const At at{size, size + 20 + random() % 60, now - static_cast<std::int64_t>(random() % 40),
                  now};
      size = at.end;
      events.push_back(at);
      batch.push_back(spans({{at.from, at.to}}).front());
    }
    return batch;
  }
};

void expect_all_found(const TimeIndex& index, const Written& file, std::mt19937& random) {
  for (int i = 0; i < 50; ++i) {
    const auto from = static_cast<std::int64_t>(random() % 1000);
    const auto to = from + static_cast<std::int64_t>(random() % 50);
    const FileWindow window = found(index, from, to);
    for (const Written::At& at : file.events) {
      if (at.to < from || at.from > to) continue;
      const bool read = std::ranges::any_of(window.events, [&](const ByteRange& range) {
        return range.begin <= at.begin && at.end <= range.end;
      });
      EXPECT_TRUE(read) << from << ".." << to << ": " << at.begin;
    }
    for (std::size_t n = 1; n < window.events.size(); ++n)
      EXPECT_LT(window.events[n - 1].end, window.events[n].begin);
  }
}

TEST(TimeIndexTest, EveryEventOfAnyTimeIsFoundInBoundedRoom) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    TimeIndex index = small(seed % 2 == 0 ? 1024 : 8);
    Written file;
    StoredRows rows;
    for (int i = 0; i < 200; ++i) {
      const EventBatch batch = file.more(random);
      index.add(kFile, {.end = file.size, .defines = random() % 20 == 0}, batch);
      if (seed % 2 == 1) {
        EXPECT_LE(index.stretches(), 8);
      }
      if (random() % 10 == 0) keep(index, rows, false);
      if (random() % 30 != 0) continue;
      keep(index, rows, false);
      TimeIndex loaded = small(seed % 2 == 0 ? 1024 : 8);
      ASSERT_TRUE(loaded.load(rows));
      StoredRows whole;
      keep(index, whole, true);
      EXPECT_TRUE(rows == whole) << "only what changed was stored, and it is all there";
      EXPECT_EQ(loaded.stretches(), index.stretches());
      expect_all_found(loaded, file, random);
    }
    expect_all_found(index, file, random);
  }
}

TEST(TimeIndexTest, RowsOfForgottenFilesAreRemoved) {
  TimeIndex index = small();
  StoredRows rows;
  for (std::uint64_t i = 1; i <= 300; ++i) index.add(kFile, {.end = i * 100}, spans({{0, 1}}));
  keep(index, rows, false);
  EXPECT_EQ(rows.size(), 3);
  index.clear(kFile);
  keep(index, rows, false);
  EXPECT_TRUE(rows.empty());
}

TEST(TimeIndexTest, DamagedRowsAreRefused) {
  const auto refused = [](const std::string& key, const std::string& value) {
    TimeIndex index;
    return !index.load(StoredRows{{key, value}});
  };
  EXPECT_TRUE(refused("times/7/0", "x"));
  EXPECT_TRUE(refused("times/7/99999999999", ""));
  EXPECT_TRUE(refused("times/x/0", ""));
  EXPECT_TRUE(refused("times_retired/x", ""));
  EXPECT_TRUE(refused("times_retired/00000000000000000007", "x"));
}

}  // namespace trainwatch::time_index_test

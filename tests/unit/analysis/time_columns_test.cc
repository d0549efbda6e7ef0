// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/time_columns.h"

#include <gtest/gtest.h>

#include <random>

#include "support/saved_state.h"

namespace trainwatch::time_columns_test {

using std::chrono::seconds;

struct Sum {
  std::int64_t total = 0;
  void merge(const Sum& other) { total += other.total; }
  void state(StateIo& io) { io(total); }
};
using Sums = TimeColumns<Sum>;
using Seen = std::vector<std::pair<std::int64_t, std::int64_t>>;  // second, total

Sums latest() {
  return {Sums::Keeps::latest, seconds(1), 8};
}
Sums everything() {
  return {Sums::Keeps::everything, seconds(1), 8};
}

void add(Sums& sums, std::int64_t second, std::int64_t value = 1) {
  if (Sum* const sum = sums.at(Time{seconds(second)})) sum->total += value;
}

Seen seen(const Sums& sums, std::int64_t from = 0, std::int64_t to = 1'000'000) {
  Seen found;
  sums.each(Time{seconds(from)}, Time{seconds(to)}, [&](Time start, const Sum& sum) {
    found.emplace_back(start.time_since_epoch() / seconds(1), sum.total);
  });
  return found;
}

TEST(TimeColumnsTest, OnlyIntervalsInWhichSomethingHappenedHaveColumns) {
  Sums sums = latest();
  add(sums, 100);
  add(sums, 100);
  add(sums, 103);
  EXPECT_EQ(seen(sums), (Seen{{100, 2}, {103, 1}}));
  EXPECT_EQ(seen(sums, 101), (Seen{{103, 1}}));
  EXPECT_EQ(seen(sums, 0, 103), (Seen{{100, 2}}));
}

TEST(TimeColumnsTest, ACopyHasColumnsOfItsOwn) {
  Sums sums = latest();
  add(sums, 100);
  Sums copy = sums;
  add(copy, 100);
  Sums assigned = everything();
  assigned = sums;
  add(assigned, 100);
  EXPECT_EQ(seen(sums), (Seen{{100, 1}}));
  EXPECT_EQ(seen(copy), (Seen{{100, 2}}));
  EXPECT_EQ(seen(assigned), (Seen{{100, 2}}));
}

TEST(TimeColumnsTest, TheLatestAreKept) {
  Sums sums = latest();
  for (std::int64_t second = 100; second < 120; ++second) add(sums, second);
  EXPECT_EQ(seen(sums).size(), 8);
  EXPECT_EQ(seen(sums).front().first, 112);
  add(sums, 111);
  EXPECT_EQ(seen(sums).front().first, 112) << "it is older than what is kept";
}

TEST(TimeColumnsTest, EverythingIsKeptInWiderColumns) {
  Sums sums = everything();
  for (std::int64_t second = 100; second < 120; ++second) add(sums, second);
  EXPECT_EQ(sums.width(), seconds(4));
  EXPECT_EQ(seen(sums), (Seen{{100, 4}, {104, 4}, {108, 4}, {112, 4}, {116, 4}}));
  add(sums, 90);
  EXPECT_EQ(seen(sums).front(), std::pair(std::int64_t{88}, std::int64_t{1}));
}

TEST(TimeColumnsTest, TheFarthestTimesFit) {
  Sums sums = everything();
  add(sums, 0);
  ASSERT_NE(sums.at(Time::max()), nullptr);
  sums.at(Time::max())->total = 7;
  EXPECT_EQ(sums.at(Time{} - seconds(1)), nullptr);
  std::int64_t total = 0;
  sums.each(Time{}, Time::max(), [&](Time, const Sum& sum) { total += sum.total; });
  EXPECT_EQ(total, 8);
}

// The order of events does not matter where everything is kept.
TEST(TimeColumnsTest, WhatIsKeptDoesNotDependOnTheOrder) {
  std::vector<std::int64_t> times;
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) times.push_back(static_cast<std::int64_t>(random() % 5000));
  Sums sorted = everything();
  Sums shuffled = everything();
  for (const std::int64_t time : times) add(shuffled, time);
  std::ranges::sort(times);
  for (const std::int64_t time : times) add(sorted, time);
  EXPECT_EQ(seen(sorted), seen(shuffled));
}

// Commits rows after every few events, and loads them: the same columns.
void expect_restored(Sums (*make)()) {
  std::mt19937 random(11);
  Sums sums = make();
  StoredRows stored;
  std::int64_t second = 1000;
  for (int commit = 0; commit < 200; ++commit) {
    for (int i = 0; i < 5; ++i) {
      second += static_cast<std::int64_t>(random() % 4);
      add(sums, second - static_cast<std::int64_t>(random() % 3));
    }
    StateRows rows;
    sums.save(rows, "sums/", commit == 100);
    for (const auto& [key, value] : rows.changed()) {
      value ? static_cast<void>(stored[key] = *value) : static_cast<void>(stored.erase(key));
    }
    Sums loaded = make();
    ASSERT_TRUE(loaded.load(stored, "sums/")) << commit;
    ASSERT_EQ(seen(loaded), seen(sums)) << commit;
    ASSERT_EQ(loaded.width(), sums.width());
  }
  StateRows rows;
  sums.remove(rows, "sums/");
  for (const auto& [key, value] : rows.changed()) {
    EXPECT_FALSE(value);
    stored.erase(key);
  }
  EXPECT_TRUE(stored.empty());
}

TEST(TimeColumnsTest, TheLatestAreRestored) {
  expect_restored(latest);
}

TEST(TimeColumnsTest, EverythingIsRestored) {
  expect_restored(everything);
}

TEST(TimeColumnsTest, DamagedRowsAreRefused) {
  Sums sums = latest();
  add(sums, 5);
  StateRows rows;
  sums.save(rows, "sums/", true);
  for (const auto& [damaged, intact] : rows.changed()) {
    StoredRows stored;
    for (const auto& [key, value] : rows.changed()) stored[key] = *value;
    stored[damaged].back() = static_cast<char>(stored[damaged].back() ^ 0x40);
    stored[damaged] += 'x';
    EXPECT_FALSE(latest().load(stored, "sums/")) << damaged;
  }
}

}  // namespace trainwatch::time_columns_test

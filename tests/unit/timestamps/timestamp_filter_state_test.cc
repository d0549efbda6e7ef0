// SPDX-License-Identifier: Apache-2.0
// A timestamp filter continues from its saved rows exactly where it stopped. Damaged rows are
// refused or harmless.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "unit/timestamps/timestamp_filter_fixture.h"

namespace trainwatch::timestamp_filter_state_test {

using namespace test;

class TimestampFilterStateTest : public FilterTest {
 protected:
  // As a commit does.
  void save(StoredRows& store, bool all = false) {
    StateRows rows;
    filter_->save(rows, all);
    for (auto& [key, value] : rows.changed()) {
      if (value) {
        store.insert_or_assign(key, *value);
      } else {
        store.erase(key);
      }
    }
  }
  // A lane with every trouble there is: disorder, poison, repetitions, pauses, a clock set back.
  std::vector<Event> troubled_lane() const {
    std::mt19937_64 random(88);
    std::vector<Event> events;
    double second = 0;
    for (int i = 0; i < 600; ++i) {
      second += 0.5;
      const double late = random() % 4 == 0 ? static_cast<double>(random() % 20) : 0;
      events.push_back(sample(second - late, i, static_cast<std::uint32_t>(random() % 3)));
      if (random() % 5 == 0) events.push_back(step(second, 0.4, i));
      if (random() % 7 == 0) events.push_back(events[events.size() - 1 - random() % 3]);
      if (random() % 20 == 0) events.push_back(sample(second + 1e8, 0));
      if (random() % 50 == 0) second += random() % 2 == 0 ? 4000 : -3000;
    }
    return events;
  }
  void feed_all(const std::vector<Event>& events, bool restart_each_time) {
    StoredRows store;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == 300) filter_->reread(kLane);
      feed(events[i]);
      if (i % 97 == 0) end_of_file();
      if (!restart_each_time) continue;
      save(store);
      restart();
      ASSERT_TRUE(filter_->load(store)) << i;
    }
    end_of_input();
  }
};

TEST_F(TimestampFilterStateTest, SavedAndLoadedAfterEachEventTheOutputIsTheSame) {
  const std::vector<Event> events = troubled_lane();
  feed_all(events, false);
  const auto passed = texts(passed_);
  const std::size_t rejected = rejected_events_.size();
  ASSERT_GT(rejected, 50U);
  ASSERT_GT(passed.size(), 400U);
  ASSERT_EQ(passed.size() + rejected, events.size());

  passed_.clear();
  rejected_events_.clear();
  restart();
  feed_all(events, true);
  EXPECT_EQ(texts(passed_), passed);
  EXPECT_EQ(rejected_events_.size(), rejected);
}

TEST_F(TimestampFilterStateTest, DamagedBytesAreRefusedOrHarmless) {
  StoredRows rows;
  feed_seconds(0, 20);
  save(rows);
  feed(sample(15.5));
  feed(step(20, 1, 1));
  for (int second = 4000; second < 4004; ++second) feed(step(second, 1, second));
  feed(sample(9e8));
  save(rows);
  ASSERT_EQ(rows.size(), 3U) << "of the lane, of its samples, and of those since then";
  for (const auto& [key, bytes] : rows) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      StoredRows shorter = rows;
      shorter[key] = bytes.substr(0, size);
      ASSERT_FALSE(TimestampFilter(options_).load(shorter)) << key << ": " << size;
    }
  }
  std::mt19937 random(5);
  SameIds ids(interner_);
  for (int round = 0; round < 20000; ++round) {
    StoredRows damaged = rows;
    std::string& row = std::next(damaged.begin(), static_cast<int>(random() % rows.size()))->second;
    row[random() % row.size()] = static_cast<char>(random());
    if (round % 2 == 0)
      row[random() % std::min<std::size_t>(row.size(), 200)] = static_cast<char>(random());
    TimestampFilter filter(options_);
    if (!filter.load({damaged, &ids})) continue;
    EventBatch batch{sample(21), step(22, 1, 2), sample(4005), step(4006, 1, 3)};
    filter.filter(kLane, batch, rejected_events_);
    filter.end_of_input(kLane, batch, rejected_events_);
    for (const Event& event : batch) ASSERT_NE(text(event), "");
  }
}

// A later lane may reuse the number and must not load the rows of this one.
TEST_F(TimestampFilterStateTest, AForgottenLaneLeavesNoRows) {
  StoredRows store;
  feed_seconds(0, 3);
  save(store);
  feed_seconds(3, 5);
  save(store);
  EXPECT_EQ(store.size(), 3U);
  filter_->forget(kLane);
  feed_seconds(100, 101);
  save(store);
  EXPECT_EQ(store.size(), 1U) << "an event that waits, and no sample";
  filter_->forget(kLane);
  save(store);
  EXPECT_TRUE(store.empty());
}

TEST_F(TimestampFilterStateTest, EventsOfAnotherInternerAreRefused) {
  feed_seconds(0, 5);
  for (int second = 4000; second < 4004; ++second) feed(step(second, 1, second));
  StoredRows rows;
  save(rows);
  const Interner empty;
  SameIds ids(empty);
  EXPECT_FALSE(TimestampFilter(options_).load({rows, &ids}));
}

}  // namespace trainwatch::timestamp_filter_state_test

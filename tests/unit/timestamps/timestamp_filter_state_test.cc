// A timestamp filter that is saved and loaded goes on exactly where it stood, and bytes that are
// not its own leave a lane as new.
#include <gmock/gmock.h>

#include <random>

#include "unit/timestamps/timestamp_filter_fixture.h"

namespace trainwatch::timestamp_filter_state_test {

using namespace test;

class TimestampFilterStateTest : public FilterTest {
 protected:
  std::string saved(TimestampFilter& filter) {
    StateIo saving = StateIo::saving();
    filter.lane_state(kLane, saving);
    return saving.take();
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
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == 300) filter_->reread(kLane);
      feed(events[i]);
      if (i % 97 == 0) end_of_file();
      if (!restart_each_time) continue;
      const std::string bytes = saved(*filter_);
      restart();
      StateIo loading = StateIo::loading(bytes);
      filter_->lane_state(kLane, loading);
      ASSERT_TRUE(loading.complete());
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
  feed_seconds(0, 20);
  feed(sample(15.5));
  feed(step(20, 1, 1));
  for (int second = 4000; second < 4004; ++second) feed(step(second, 1, second));
  feed(sample(9e8));
  const std::string bytes = saved(*filter_);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    TimestampFilter filter(options_);
    StateIo loading = StateIo::loading(std::string_view(bytes).substr(0, size));
    filter.lane_state(kLane, loading);
    ASSERT_FALSE(loading.complete()) << size;
  }
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (round % 2 == 0) damaged[random() % 200] = static_cast<char>(random());
    TimestampFilter filter(options_);
    SameIds ids(interner_);
    StateIo loading = StateIo::loading(damaged, &ids);
    filter.lane_state(kLane, loading);
    EventBatch batch{sample(21), step(22, 1, 2), sample(4005), step(4006, 1, 3)};
    filter.filter(kLane, batch, rejected_events_);
    filter.end_of_input(kLane, batch, rejected_events_);
    for (const Event& event : batch) ASSERT_NE(text(event), "");
  }
}

TEST_F(TimestampFilterStateTest, EventsOfAnotherInternerAreRefused) {
  feed_seconds(0, 5);
  for (int second = 4000; second < 4004; ++second) feed(step(second, 1, second));
  const std::string bytes = saved(*filter_);
  const Interner empty;
  TimestampFilter filter(options_);
  SameIds ids(empty);
  StateIo loading = StateIo::loading(bytes, &ids);
  filter.lane_state(kLane, loading);
  EXPECT_FALSE(loading.ok());
}

}  // namespace trainwatch::timestamp_filter_state_test

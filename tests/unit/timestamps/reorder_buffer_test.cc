// SPDX-License-Identifier: Apache-2.0
// Samples that were written out of order come out in order.
#include "pipeline/timestamps/reorder_buffer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "unit/timestamps/timestamp_filter_fixture.h"

namespace trainwatch::reorder_buffer_test {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ReorderBufferTest : public FilterTest {
 protected:
  void restart_with(Nanos min_hold) {
    options_.min_hold = min_hold;
    restart();
    passed_.clear();
    rejected_events_.clear();
  }
};

// A random job of `n` samples, several of them at the same time.
std::vector<Event> job(std::mt19937_64& random, std::size_t n) {
  std::vector<Event> events;
  double second = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (random() % 3 != 0) second += static_cast<double>(random() % 2000) / 1000;
    events.push_back(Sample{at_second(second), static_cast<double>(i),
                            SeriesId{static_cast<std::uint32_t>(random() % 3)},
                            Resource::cpu_utilization});
  }
  return events;
}

bool before(const Event& a, const Event& b) {
  return time_of(a)->start < time_of(b)->start;
}

// Moves each event up to `window` seconds towards the end.
void shuffle_within(std::vector<Event>& events, double window, std::mt19937_64& random) {
  std::uniform_real_distribution<double> delay(0, window);
  std::vector<std::pair<double, Event>> delayed;
  for (const Event& event : events) {
    delayed.emplace_back(to_seconds(time_of(event)->start - at_second(0)) + delay(random), event);
  }
  std::stable_sort(delayed.begin(), delayed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(delayed.begin(), delayed.end(), events.begin(),
                 [](const auto& entry) { return entry.second; });
}

TEST_F(ReorderBufferTest, APermutationWithinTheHoldEqualsTheSortedRun) {
  std::mt19937_64 random(56);
  for (int round = 0; round < 200; ++round) {
    const int window = 1 + static_cast<int>(random() % 60);
    restart_with(std::chrono::seconds(window));
    std::vector<Event> events = job(random, 300);
    shuffle_within(events, window, random);
    for (const Event& event : events) feed(event);
    end_of_input();
    std::stable_sort(events.begin(), events.end(), before);
    ASSERT_EQ(texts(passed_), texts(events)) << "round " << round << ", window " << window;
    ASSERT_THAT(rejected_events_, IsEmpty());
  }
}

TEST_F(ReorderBufferTest, ALaneLearnsItsDisorder) {
  feed_seconds(0, 10);
  EXPECT_EQ(passed(), seconds(0, 10)) << "ordered so far: nothing waits";
  feed(sample(6.5));
  EXPECT_THAT(passed_, SizeIs(11)) << "it cannot become earlier by waiting";
  std::mt19937_64 random(3);
  std::vector<Event> events;
  for (int second = 10; second < 200; ++second) events.push_back(sample(second, second));
  shuffle_within(events, 2.4, random);
  for (const Event& event : events) feed(event);
  end_of_input();
  const std::vector<double> all = passed();
  EXPECT_TRUE(std::is_sorted(all.begin() + 11, all.end()));
  EXPECT_THAT(all, SizeIs(201));
}

TEST_F(ReorderBufferTest, SpansDoNotWait) {
  restart_with(std::chrono::seconds(30));
  feed(step(0, 1, 0));
  feed(step(2, 1, 2));
  feed(step(1, 1, 1));
  EXPECT_EQ(passed(), (std::vector<double>{0, 2, 1})) << "in the order of the file";
}

TEST_F(ReorderBufferTest, TheBufferIsBoundedAndTheOldestGoFirst) {
  restart_with(std::chrono::seconds(60));
  const std::size_t many = ReorderBuffer::kMaxWaiting + 100;
  for (std::size_t i = 0; i < many; ++i) feed(sample(static_cast<double>(i) / 1000, 1));
  EXPECT_THAT(passed_, SizeIs(100));
  const std::vector<double> all = passed();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  end_of_input();
  EXPECT_THAT(passed_, SizeIs(many));
}

TEST_F(ReorderBufferTest, WhatWaitsWhenTheClockIsSetBackGoesFirst) {
  restart_with(std::chrono::seconds(5));
  feed_seconds(5000, 5010);
  EXPECT_EQ(passed(), seconds(5000, 5005));
  feed_seconds(100, 108);
  end_of_input();
  std::vector<double> expected = seconds(5000, 5010);
  for (const double second : seconds(100, 108)) expected.push_back(second);
  EXPECT_EQ(passed(), expected);
}

}  // namespace trainwatch::reorder_buffer_test

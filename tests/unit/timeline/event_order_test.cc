// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/event_order.h"

#include <gtest/gtest.h>

#include <random>

namespace trainwatch::event_order_test {

class MemoryRuns final : public RunStore {
 public:
  Status append(std::string_view bytes) override {
    if (bytes_.size() + bytes.size() > room_) return Error{"full"};
    bytes_.append(bytes);
    return success();
  }
  Status read(std::uint64_t offset, std::span<char> buffer) override {
    if (offset + buffer.size() > bytes_.size()) return Error{"behind the end"};
    bytes_.copy(buffer.data(), buffer.size(), offset);
    return success();
  }
  void forget(std::uint64_t, std::uint64_t size) override { forgotten_ += size; }
  void set_room(std::size_t room) { room_ = room; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t room_ = std::size_t{1} << 30U;
  std::uint64_t forgotten_ = 0;
};

struct Seen final : TimelineSink {
  void event(const TimelineEvent& event) override {
    all.emplace_back(event.start_ns, std::string(event.name) + std::string(event.rest));
  }
  std::vector<std::pair<std::int64_t, std::string>> all;
};

class EventOrderTest : public testing::Test {
 protected:
  // Events with many equal times; returns what is expected of them.
  std::vector<std::pair<std::int64_t, std::string>> fill(EventOrder& order, int count) {
    std::mt19937 random(5);
    std::vector<std::pair<std::int64_t, std::string>> expected;
    for (int i = 0; i < count; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 500);
      const std::string name = '"' + std::to_string(i) + '"';
      const std::string rest(random() % 100, 'x');
      TimelineEvent event;
      event.start_ns = start;
      event.track = track_;
      event.name = name;
      event.rest = rest;
      order.event(event);
      expected.emplace_back(start, name + rest);
    }
    std::ranges::stable_sort(expected, {}, [](const auto& each) { return each.first; });
    return expected;
  }

  TrackTable tracks_;
  TrackId track_ = tracks_.thread(tracks_.phase("p"), "", "0");
  MemoryRuns runs_;
  Seen seen_;
};

TEST_F(EventOrderTest, SortsByStartAndKeepsTheOrderOfEqualOnes) {
  EventOrder order(tracks_, nullptr);
  const auto expected = fill(order, 1000);
  ASSERT_TRUE(order.drain(seen_));
  EXPECT_TRUE(seen_.all == expected);
}

TEST_F(EventOrderTest, RunsInAStoreGiveTheSame) {
  EventOrder order(tracks_, &runs_, 2000);  // some 15 events at a time: runs of runs
  const auto expected = fill(order, 20'000);
  ASSERT_TRUE(order.drain(seen_));
  EXPECT_GT(runs_.size(), 100'000);
  EXPECT_TRUE(seen_.all == expected);
}

TEST_F(EventOrderTest, WithoutAStoreTheRestIsLeftOutAndCounted) {
  EventOrder order(tracks_, nullptr, 2000);
  fill(order, 1000);
  ASSERT_TRUE(order.drain(seen_));
  EXPECT_EQ(seen_.all.size() + order.left_out(), 1000);
  EXPECT_GT(seen_.all.size(), 5);
}

TEST_F(EventOrderTest, AStoreThatFailsIsReported) {
  runs_.set_room(10'000);
  EventOrder order(tracks_, &runs_, 2000);
  fill(order, 1000);
  EXPECT_FALSE(order.status());
  EXPECT_FALSE(order.drain(seen_));
}

}  // namespace trainwatch::event_order_test

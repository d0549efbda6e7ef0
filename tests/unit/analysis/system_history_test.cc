// SPDX-License-Identifier: Apache-2.0
// What the history of usages keeps, and that thousands of nodes fit into its budget.
#include "pipeline/analysis/core/system_history.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::system_history_test {

class SystemHistoryTest : public ::testing::Test {
 protected:
  SeriesId cpu_of(const std::string& node) {
    Series series;
    series.subject = subject(node);
    series.resource = Resource::cpu_utilization;
    return interner_.series.intern(series).value();
  }
  SubjectId subject(const std::string& node) {
    return interner_.subjects.intern({"", node, kNoRank, ""}).value();
  }
  static Time second(std::int64_t number) {
    return Time{std::chrono::seconds(1'700'000'000 + number)};
  }
  static void sample(SystemHistory& history, SeriesId cpu, std::int64_t number, double value) {
    history.on(Sample{second(number), value, cpu, Resource::cpu_utilization});
  }

  Interner interner_;
};

TEST_F(SystemHistoryTest, KeepsMoreThanAnHourOfAFewNodes) {
  SystemHistory history(interner_);
  const SeriesId cpu = cpu_of("a");
  for (int i = 0; i < 5000; ++i) sample(history, cpu, i, i < 2000 ? 10 : 30);
  EXPECT_EQ(history.usage(subject("a"), second(1500), second(1999)).cpu, 10);
  EXPECT_EQ(history.usage(subject("a"), second(4000), second(4999)).cpu, 30);
  EXPECT_EQ(history.usage(subject("a"), second(0), second(800)).cpu, std::nullopt);
}

// 4,096 seconds of each of 4,000 nodes once took 900 MB.
TEST_F(SystemHistoryTest, ManyNodesShareTheBudgetAndKeepTheLastMinutes) {
  SystemHistory history(interner_, 100);
  for (int i = 0; i < 40; ++i) {
    const SeriesId cpu = cpu_of("node-" + std::to_string(i));
    for (int at = 0; at < 1000; ++at) sample(history, cpu, at, i);
  }
  for (int i = 0; i < 40; ++i) {
    const SubjectId node = subject("node-" + std::to_string(i));
    EXPECT_EQ(history.usage(node, second(990), second(999)).cpu, i);
    EXPECT_EQ(history.usage(node, second(0), second(800)).cpu, std::nullopt);
  }
  EXPECT_EQ(history.nodes_dropped(), 0U);
}

TEST_F(SystemHistoryTest, ANodeWithoutRoomIsCountedAndNotMixedWithOthers) {
  SystemHistory history(interner_, 4);
  for (const char* name : {"a", "b", "c"}) sample(history, cpu_of(name), 0, 50);
  EXPECT_EQ(history.usage(subject("b"), second(0), second(0)).cpu, 50);
  EXPECT_EQ(history.usage(subject("c"), second(0), second(0)).cpu, std::nullopt);
  EXPECT_FALSE(history.is_sampled(subject("c")));
  EXPECT_EQ(history.nodes_dropped(), 1U);
}

TEST_F(SystemHistoryTest, RowsThatWereDroppedLeaveTheStoreToo) {
  SystemHistory history(interner_, 6);
  sample(history, cpu_of("a"), 0, 10);
  sample(history, cpu_of("a"), 200, 20);
  sample(history, cpu_of("a"), 400, 30);
  StoredRows stored;
  const auto save = [&] {
    StateRows rows;
    history.save(rows, false);
    for (const auto& [key, value] : rows.changed()) {
      if (value) stored[key] = *value;
      if (!value) stored.erase(key);
    }
  };
  save();
  EXPECT_EQ(stored.size(), 4U);
  sample(history, cpu_of("b"), 400, 40);
  sample(history, cpu_of("c"), 400, 50);
  save();
  EXPECT_EQ(stored.size(), 7U);  // a row each for b and c, two of a, and the three nodes

  SystemHistory loaded(interner_, 6);
  ASSERT_TRUE(loaded.load(stored));
  for (const auto& [node, at, cpu] :
       {std::tuple{"a", 200, 20.0}, {"a", 400, 30.0}, {"b", 400, 40.0}}) {
    EXPECT_EQ(loaded.usage(subject(node), second(at), second(at)).cpu, cpu);
  }
  EXPECT_EQ(loaded.usage(subject("a"), second(0), second(0)).cpu, std::nullopt);
}

TEST_F(SystemHistoryTest, ALateSampleDoesNotOverwriteALaterMinute) {
  SystemHistory history(interner_);
  const SeriesId cpu = cpu_of("a");
  sample(history, cpu, 5000, 70);
  sample(history, cpu, 5000 - 4096, 10);
  sample(history, cpu, 4990, 60);
  EXPECT_EQ(history.usage(subject("a"), second(5000), second(5000)).cpu, 70);
  EXPECT_EQ(history.usage(subject("a"), second(4990), second(4990)).cpu, 60);
}

}  // namespace trainwatch::system_history_test

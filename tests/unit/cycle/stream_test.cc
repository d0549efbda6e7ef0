// SPDX-License-Identifier: Apache-2.0
// What is counted along a stream, or from launch to activity: idle time, queues, bandwidth.
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/cycle/idle_time.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/memory_bandwidth.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::stream_test {

const IdleGaps& gaps(const StreamIdle& idle, IdleCause cause) {
  return idle.by_cause[static_cast<std::size_t>(cause)];
}

TEST(IdleTime, EachGapHasItsCause) {
  HandMadeCycle built;
  built.compute({0, 10, 7, built.launch(-10)});
  built.compute({12, 8, 7, built.launch(-5)});    // launched before 10: a usual gap of 2
  built.compute({70, 10, 7, built.launch(20)});   // launched at 20, not after: a gap of 50
  built.compute({100, 10, 7, built.launch(81)});  // launched after 80: the host was late by 20
  built.compute({130, 5, 7});                     // no launch known: a usual gap of 20
  built.wait({111, 9});                           // not counted
  built.compute({0, 10, 20, built.launch(-3)});
  const CycleTrace cycle = built.build();
  const auto found = idle_time(cycle, all_rows(cycle));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].stream, 7);
  EXPECT_EQ(gaps(found[0], IdleCause::host_wait).sum_ns, 20'000);
  EXPECT_EQ(gaps(found[0], IdleCause::kernel_wait).sum_ns, 22'000);
  EXPECT_EQ(gaps(found[0], IdleCause::kernel_wait).each_ns.count, 2U);
  EXPECT_DOUBLE_EQ(gaps(found[0], IdleCause::kernel_wait).each_ns.mean, 11'000);
  EXPECT_EQ(gaps(found[0], IdleCause::other).sum_ns, 50'000);
  EXPECT_EQ(found[1].stream, 20);
  EXPECT_EQ(gaps(found[1], IdleCause::other).each_ns.count, 0U);
  EXPECT_TRUE(std::isnan(gaps(found[1], IdleCause::other).each_ns.mean));
}

TEST(IdleTime, AGapOf30MicrosecondsIsNotUsual) {
  HandMadeCycle built;
  built.compute({0, 10, 7, built.launch(-10)}).compute({40, 10, 7, built.launch(-5)});
  const CycleTrace cycle = built.build();
  const auto found = idle_time(cycle, all_rows(cycle));
  EXPECT_EQ(gaps(found[0], IdleCause::other).sum_ns, 30'000);
}

TEST(IdleTime, WithoutActivityThereIsNone) {
  HandMadeCycle built;
  built.wait({0, 10});
  const CycleTrace cycle = built.build();
  EXPECT_TRUE(idle_time(cycle, all_rows(cycle)).empty());
}

TEST(QueueLength, ActivityWaitsFromItsLaunchToItsStart) {
  HandMadeCycle built;
  built.compute({20, 5, 7, built.launch(0)});
  built.compute({30, 5, 7, built.launch(10)});
  built.compute({5, 5, 8, built.launch(2)});
  const CycleTrace cycle = built.build();
  const auto found = queue_length(cycle);
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found[0].changes.size(), 4U);
  EXPECT_EQ(found[0].stream, 7);
  EXPECT_EQ(found[0].changes[1].at_ns, 10'000);
  EXPECT_EQ(found[0].changes[1].length, 2);
  EXPECT_EQ(found[0].changes[3].length, 0);
  const QueueSummary summary = queue_summary(cycle);
  EXPECT_EQ(summary.lengths.count, 4U);
  EXPECT_DOUBLE_EQ(summary.lengths.mean, 1);  // 1, 2, 1, 0
  EXPECT_DOUBLE_EQ(summary.mean_over_time, 40.0 / 30);
  EXPECT_EQ(summary.duration_ns, 30'000);
  EXPECT_EQ(summary.full_ns, 0);
}

TEST(QueueLength, AGraphQueuesAllItsKernels) {
  HandMadeCycle built;
  const std::uint32_t graph = built.launch(0, 5, "cudaGraphLaunch");
  built.compute({10, 5, 7, graph}).compute({20, 5, 7, graph});
  const CycleTrace cycle = built.build();
  const auto found = queue_length(cycle);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].changes[1].length, 2);
  EXPECT_EQ(found[0].changes[3].length, 0);
}

TEST(QueueLength, TheHostIsBlockedWhileTheQueueIsFull) {
  HandMadeCycle built;
  for (int i = 0; i < 1024; ++i) built.compute({2000 + i, 1, 7, built.launch(i)});
  const CycleTrace cycle = built.build();
  const QueueSummary summary = queue_summary(cycle);
  EXPECT_DOUBLE_EQ(summary.lengths.max, 1024);
  EXPECT_EQ(summary.full_ns, (2000 - 1023) * 1000);
}

TEST(QueueLength, WaitsAndCallsThatDoNotQueueAreLeftOut) {
  HandMadeCycle built;
  built.wait({10, 5, 7, built.launch(0, 20, "cudaStreamSynchronize")});
  built.copy({10, 5, 7, built.launch(0, 20, "cudaMemcpy")}, 1);
  built.compute({0, 5, 7});
  const CycleTrace cycle = built.build();
  EXPECT_TRUE(queue_length(cycle).empty());
}

TEST(MemoryBandwidth, AKindIsNeverHalfACharacter) {
  HandMadeCycle builder;
  builder.copy({10, 20}, 2.5F, "Memcpy abc\xC3\xA4");
  const CycleTrace cycle = builder.build();
  const auto found = memory_bandwidth(cycle, all_rows(cycle));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "Memcpy Unknown");
}

TEST(MemoryBandwidth, CopiesAtTheSameTimeAddUp) {
  HandMadeCycle built;
  built.copy({0, 20, 7}, 2).copy({10, 20, 8}, 3).copy({50, 0, 7}, 4);
  built.copy({0, 5, 7}, 0).copy({0, 5, 7}, 1, "Memset (Device)").copy({0, 5}, 1, "dma transfer");
  const CycleTrace cycle = built.build();
  const auto found = memory_bandwidth(cycle, all_rows(cycle));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kind, "Memcpy HtoD");
  ASSERT_EQ(found[0].changes.size(), 6U);
  EXPECT_DOUBLE_EQ(found[0].changes[1].gbps, 5);
  EXPECT_DOUBLE_EQ(found[0].changes[2].gbps, 3);
  EXPECT_EQ(found[0].changes[5].at_ns, 51'000);  // a copy without length takes a microsecond
  const Description summary = summarize(found[0]);
  EXPECT_EQ(summary.count, 4U);
  EXPECT_DOUBLE_EQ(summary.mean, (2 + 5 + 3 + 4) / 4.0);
  EXPECT_EQ(found[1].kind, "Memcpy Unknown");
  EXPECT_EQ(found[2].kind, "Memset");
}

// In HTA what the additions rounded stays, and counts as bandwidth.
TEST(MemoryBandwidth, WhereNothingIsCopiedTheBandwidthIsExactlyZero) {
  HandMadeCycle built;
  built.copy({0, 20, 7}, 0.1F).copy({10, 20, 8}, 1e9F).copy({15, 30, 9}, 0.3F);
  const CycleTrace cycle = built.build();
  const auto found = memory_bandwidth(cycle, all_rows(cycle));
  EXPECT_EQ(found[0].changes.back().gbps, 0);
}

}  // namespace trainwatch::stream_test

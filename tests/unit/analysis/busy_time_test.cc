// SPDX-License-Identifier: Apache-2.0
// What is counted by intervals: idle and busy time, overlap, mixes of work.
#include <gtest/gtest.h>

#include "pipeline/analysis/hta/cycle_results.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::busy_time_test {

CycleTrace mixed() {
  HandMadeCycle built;
  built.compute({0, 40});           // alone until 20
  built.communicate({20, 40, 20});  // with computation until 40, alone until 60
  built.copy({50, 30, 21}, 1);      // with communication until 60
  built.wait({90, 10});             // hides nothing, and is not idle
  return built.build();
}

TEST(TemporalBreakdown, TheDeviceComputesDoesSomethingElseOrIsIdle) {
  const CycleTrace cycle = mixed();
  const TemporalBreakdown found = temporal_breakdown(cycle, all_rows(cycle));
  EXPECT_EQ(found.kernel_ns, 100'000);
  EXPECT_EQ(found.idle_ns, 10'000);
  EXPECT_EQ(found.compute_ns, 40'000);
  EXPECT_EQ(found.non_compute_ns, 50'000);
}

TEST(TemporalBreakdown, NothingTakesNoTime) {
  const TemporalBreakdown found = temporal_breakdown(CycleTrace{}, {});
  EXPECT_EQ(found.kernel_ns, 0);
  EXPECT_EQ(found.idle_ns, 0);
}

TEST(CommCompOverlap, CommunicationBehindComputation) {
  const CycleTrace cycle = mixed();
  const CommCompOverlap found = comm_comp_overlap(cycle, all_rows(cycle));
  EXPECT_EQ(found.communication_ns, 40'000);
  EXPECT_EQ(found.overlapped_ns, 20'000);
}

TEST(WorkMix, EachMixOfKindsHasItsTime) {
  const CycleTrace cycle = mixed();
  const auto with = time_by_activity_mix(cycle, all_rows(cycle), true);
  EXPECT_EQ(with[0], 0);
  EXPECT_EQ(with[kComputationBit], 20'000);
  EXPECT_EQ(with[kComputationBit | kCommunicationBit], 20'000);
  EXPECT_EQ(with[kCommunicationBit], 10'000);
  EXPECT_EQ(with[kCommunicationBit | kMemoryBit], 10'000);
  EXPECT_EQ(with[kMemoryBit], 20'000);
  const auto without = time_by_activity_mix(cycle, all_rows(cycle), false);
  EXPECT_EQ(without[kCommunicationBit], 20'000);
  EXPECT_EQ(without[kMemoryBit], 0);
}

TEST(WorkMix, WorkOfOneKindOnTwoStreamsCountsOnce) {
  HandMadeCycle built;
  built.compute({0, 10, 7}).compute({5, 10, 8});
  const CycleTrace cycle = built.build();
  EXPECT_EQ(time_by_activity_mix(cycle, all_rows(cycle), true)[kComputationBit], 15'000);
}

}  // namespace trainwatch::busy_time_test

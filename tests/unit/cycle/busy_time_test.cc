// What is counted by intervals: idle and busy time, overlap, mixes of work.
#include <gtest/gtest.h>

#include "pipeline/cycle/comm_comp_overlap.h"
#include "pipeline/cycle/interval_set.h"
#include "pipeline/cycle/kernel_breakdown.h"
#include "pipeline/cycle/temporal_breakdown.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch {
namespace {

TEST(IntervalSet, OverlappingAndTouchingIntervalsBecomeOne) {
  const IntervalSet set({{30, 40}, {0, 10}, {5, 8}, {10, 20}});
  ASSERT_EQ(set.intervals().size(), 2U);
  EXPECT_EQ(set.intervals()[0].end_ns, 20);
  EXPECT_EQ(set.covered_ns(), 30);
  EXPECT_EQ(set.extent_ns(), 40);
}

TEST(IntervalSet, NothingHasNoExtent) {
  EXPECT_EQ(IntervalSet().covered_ns(), 0);
  EXPECT_EQ(IntervalSet(std::vector<Interval>{}).extent_ns(), 0);
}

TEST(IntervalSet, AnIntervalWithoutLengthIsPartOfTheExtentOnly) {
  const IntervalSet set({{0, 0}, {5, 8}});
  EXPECT_EQ(set.covered_ns(), 3);
  EXPECT_EQ(set.extent_ns(), 8);
}

TEST(IntervalSet, Intersection) {
  const IntervalSet a({{0, 10}, {20, 30}, {40, 50}});
  const IntervalSet b({{5, 25}, {30, 40}, {45, 46}, {48, 60}});
  const IntervalSet both = intersection(a, b);
  EXPECT_EQ(both.covered_ns(), 5 + 5 + 1 + 2);
  EXPECT_EQ(intersection(b, a).covered_ns(), both.covered_ns());
  EXPECT_EQ(intersection(a, IntervalSet()).covered_ns(), 0);
}

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
  const auto with = time_by_work_mix(cycle, all_rows(cycle), true);
  EXPECT_EQ(with[0], 0);
  EXPECT_EQ(with[kComputationBit], 20'000);
  EXPECT_EQ(with[kComputationBit | kCommunicationBit], 20'000);
  EXPECT_EQ(with[kCommunicationBit], 10'000);
  EXPECT_EQ(with[kCommunicationBit | kMemoryBit], 10'000);
  EXPECT_EQ(with[kMemoryBit], 20'000);
  const auto without = time_by_work_mix(cycle, all_rows(cycle), false);
  EXPECT_EQ(without[kCommunicationBit], 20'000);
  EXPECT_EQ(without[kMemoryBit], 0);
}

TEST(WorkMix, WorkOfOneKindOnTwoStreamsCountsOnce) {
  HandMadeCycle built;
  built.compute({0, 10, 7}).compute({5, 10, 8});
  const CycleTrace cycle = built.build();
  EXPECT_EQ(time_by_work_mix(cycle, all_rows(cycle), true)[kComputationBit], 15'000);
}

}  // namespace
}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Critical paths that are known beforehand.
#include <gtest/gtest.h>

#include "unit/analysis/step_builder.h"

namespace trainwatch::critical_path_test {

constexpr char kLoader[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

TEST(CriticalPath, OfTheHostWithoutTheTimeBetweenOperators) {
  StepBuilder built;
  built.op(0, 40, "aten::linear").op(50, 40, "aten::add");
  built.compute({20, 2, 7, built.call(10)});
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 80'000);
  EXPECT_EQ(step.ns(BoundBy::cpu), 80'000);
  EXPECT_EQ(step.of("aten::linear"), 35'000);
  EXPECT_EQ(step.of("cudaLaunchKernel"), 5'000);
  EXPECT_EQ(step.path.contributors[1].count, 1U);  // in two parts, which are one event
  EXPECT_EQ(step.graph.left_out(), 0U);
}

TEST(CriticalPath, AnOperatorIsWhatItsOwnOperatorsLeave) {
  StepBuilder built;
  built.op(0, 100, "outer").op(10, 30, "inner").op(50, 20, "inner");
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 100'000);
  EXPECT_EQ(step.of("outer"), 50'000);
  EXPECT_EQ(step.of("inner"), 50'000);
  EXPECT_EQ(step.path.contributors[0].count + step.path.contributors[1].count, 3U);
}

TEST(CriticalPath, OfALaunchThatTakesLong) {
  StepBuilder built;
  built.op(0, 10, "aten::linear").compute({60, 5, 7, built.call(2)});
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 65'000);
  EXPECT_EQ(step.ns(BoundBy::kernel_launch_overhead), 58'000);
  EXPECT_EQ(step.ns(BoundBy::gpu_compute), 5'000);
  EXPECT_EQ(step.ns(BoundBy::cpu), 2'000);
}

TEST(CriticalPath, OfALongKernelEndsWithItWhereNothingSaysWhoWaited) {
  StepBuilder built;
  built.op(0, 100, "aten::item").compute({10, 80, 7, built.call(2)});
  built.call(12, 83, "cudaStreamSynchronize");
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 90'000);
  EXPECT_EQ(step.ns(BoundBy::gpu_compute), 80'000);
  EXPECT_EQ(step.of("cudaStreamSynchronize"), 0);
}

TEST(CriticalPath, GoesOnOnTheHostWhereAStreamWasWaitedFor) {
  StepBuilder built;
  built.op(0, 100, "aten::item").compute({10, 80, 7, built.call(2)});
  built.sync("Stream Sync", {built.call(12, 83, "cudaStreamSynchronize"), 7});
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 95'000);  // the 5 us until the call returns are nobody's
  EXPECT_EQ(step.ns(BoundBy::cpu), 7'000);
}

TEST(CriticalPath, AnotherStreamIsNotWaitedFor) {
  StepBuilder built;
  built.op(0, 100, "aten::item").compute({10, 80, 7, built.call(2)});
  built.sync("Stream Sync", {built.call(12, 83, "cudaStreamSynchronize"), 20});
  EXPECT_EQ(BuiltStep(built).path.length_ns, 90'000);
}

TEST(CriticalPath, OfTheContextWaitsForAllStreams) {
  StepBuilder built;
  built.op(0, 100, "step").compute({10, 20, 7, built.call(2)}, "short");
  built.compute({20, 50, 20, built.call(8)}, "long");
  built.sync("Context Sync", {built.call(30, 45, "cudaDeviceSynchronize")});
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 8'000 + 12'000 + 50'000 + 25'000);
  EXPECT_EQ(step.of("short"), 0);
}

TEST(CriticalPath, AnEventStandsForTheLastWorkBeforeItWasRecorded) {
  StepBuilder built;
  built.op(0, 200, "step").compute({10, 50, 7, built.call(2)}, "before");
  const std::uint32_t record = built.call(8, 1, "cudaEventRecord");
  built.compute({61, 100, 7, built.call(11)}, "after");
  built.sync("Event Sync", {built.call(20, 45, "cudaEventSynchronize"), kNoStream, 7, record});
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 2'000 + 8'000 + 50'000 + 135'000);
  EXPECT_EQ(step.of("after"), 0);
}

// Computation on 7, communication on 20, which waits for an event of 7.
StepBuilder two_streams(bool with_syncs) {
  StepBuilder built;
  built.op(0, 25, "step").compute({10, 40, 7, built.call(2)});
  const std::uint32_t record = built.call(12, 1, "cudaEventRecord");
  const std::uint32_t wait = built.call(14, 1, "cudaStreamWaitEvent");
  built.communicate({51, 29, 20, built.call(16)});
  if (with_syncs) built.sync("Stream Wait Event", {wait, 20, 7, record});
  return built;
}

TEST(CriticalPath, FromStreamToStreamByAnEvent) {
  StepBuilder built = two_streams(true);
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 2'000 + 8'000 + 40'000 + 29'000);
  EXPECT_EQ(step.ns(BoundBy::gpu_compute), 40'000);
  EXPECT_EQ(step.ns(BoundBy::gpu_communication), 29'000);
}

TEST(CriticalPath, WithoutTheEventAWaitLooksLikeALaunch) {
  StepBuilder built = two_streams(false);
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 16'000 + 35'000 + 29'000);
  EXPECT_EQ(step.ns(BoundBy::kernel_launch_overhead), 35'000);
}

TEST(CriticalPath, GapsBelow1500MicrosecondsBelongToTheWorkBeforeThem) {
  for (const std::int64_t gap : {1499, 1500}) {
    StepBuilder built;
    built.op(0, 30, "step").compute({10, 40, 7, built.call(2)}, "first");
    built.copy({50 + gap, 100, 7, built.call(8, 5, "cudaMemcpyAsync")}, 1);
    const BuiltStep step(built);
    EXPECT_EQ(step.ns(BoundBy::kernel_kernel_overhead), gap < 1500 ? gap * 1000 : 0);
    EXPECT_EQ(step.ns(BoundBy::gpu_memory), 100'000);
    EXPECT_EQ(step.of("first"), gap < 1500 ? 40'000 + gap * 1000 : 0);
  }
}

TEST(CriticalPath, BackwardInAThreadOfItsOwnFollowsForward) {
  StepBuilder built;
  built.op(0, 20, "DistributedDataParallel.forward", 0, HostKind::annotation);
  built.op(1, 18, "aten::linear").op(70, 10, "aten::add");
  built.op(30, 30, "autograd::engine::evaluate_function: AddBackward0", 1);
  EXPECT_EQ(BuiltStep(built).path.length_ns, 58'000);
}

TEST(CriticalPath, OfSeveralBackwardThreadsNoneIsTheOne) {
  StepBuilder built;
  built.op(1, 18, "aten::forward").op(70, 10, "aten::add");
  built.op(30, 30, "autograd::engine::evaluate_function: AddBackward0", 1);
  built.op(30, 30, "autograd::engine::evaluate_function: AddBackward0", 2);
  EXPECT_EQ(BuiltStep(built).path.length_ns, 30'000);
}

TEST(CriticalPath, WhatRunsInAWaitForDataIsPartOfIt) {
  StepBuilder built;
  built.op(0, 40, kLoader, 0, HostKind::annotation).op(10, 20, "aten::stack").op(41, 5, "aten::to");
  const BuiltStep step(built);
  EXPECT_EQ(step.ns(BoundBy::data_loading), 40'000);
  EXPECT_EQ(step.ns(BoundBy::cpu), 5'000);
  EXPECT_EQ(step.of("aten::stack"), 20'000);
}

TEST(CriticalPath, OtherAnnotationsAndStepsAreNoEvents) {
  StepBuilder built;
  built.op(0, 90, "ProfilerStep#1").op(0, 90, "forward", 0, HostKind::annotation);
  built.op(0, 90, "train.py(7): step", 0, HostKind::other).op(10, 20, "aten::linear");
  EXPECT_EQ(BuiltStep(built).path.length_ns, 20'000);
}

// HTA: the call that ends first had the lock, and the next to end got it from there.
TEST(CriticalPath, CallsThatOverlapPassTheLockOn) {
  StepBuilder built;
  built.call(0, 10, "cudaLaunchKernel", 0);
  built.call(5, 15, "cudaHostAlloc", 1);
  built.op(5, 40, "outer", 1);
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 10'000 + 25'000);
  EXPECT_EQ(step.of("cudaHostAlloc"), 0);
}

TEST(CriticalPath, WhatIsNotNestedIsInTheOrderOfTime) {
  StepBuilder built;
  built.op(0, 10, "first").op(5, 10, "second");
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 15'000);
  EXPECT_EQ(step.of("second"), 10'000);
  EXPECT_EQ(step.graph.left_out(), 0U);
}

TEST(CriticalPath, WorkThatOverlapsOnAStreamFollowsWhatHadEnded) {
  StepBuilder built;
  built.op(0, 40, "step").compute({10, 20, 7, built.call(2)}, "first");
  built.compute({32, 20, 7, built.call(11)}, "second")
      .compute({50, 60, 7, built.call(17)}, "third");
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 110'000);
  EXPECT_EQ(step.of("second"), 0);
  EXPECT_EQ(step.ns(BoundBy::kernel_kernel_overhead), 20'000);
}

TEST(CriticalPath, EdgesAgainstTheClockAreLeftOut) {
  StepBuilder built;
  built.op(0, 100, "step").compute({10, 70, 7, built.call(2)});
  const std::uint32_t record = built.call(8, 1, "cudaEventRecord");
  built.sync("Event Sync", {built.call(20, 45, "cudaEventSynchronize"), kNoStream, 7, record});
  const BuiltStep step(built);
  EXPECT_EQ(step.graph.left_out(), 1U);
  EXPECT_EQ(step.path.length_ns, 80'000);
}

TEST(CriticalPath, AGraphIsLaunchedIntoAnEmptyQueueOnce) {
  StepBuilder built;
  built.op(0, 30, "step");
  const std::uint32_t graph = built.call(5, 10, "cudaGraphLaunch");
  built.compute({20, 10, 7, graph}).compute({31, 10, 7, graph});
  const BuiltStep step(built);
  EXPECT_EQ(step.ns(BoundBy::kernel_launch_overhead), 15'000);
  EXPECT_EQ(step.ns(BoundBy::kernel_kernel_overhead), 1'000);
  EXPECT_EQ(step.path.length_ns, 41'000);
}

TEST(CriticalPath, WorkThatTheStepDidNotLaunchIsNotItsOwn) {
  StepBuilder built;
  built.compute({100, 500, 7}).compute({700, 500, 7, built.call(-50)});
  built.op(0, 10, "aten::linear");
  EXPECT_EQ(BuiltStep(built).path.length_ns, 10'000);
}

TEST(CriticalPath, OfNothingIsEmpty) {
  StepBuilder built;
  const BuiltStep step(built);
  EXPECT_EQ(step.path.length_ns, 0);
  EXPECT_TRUE(step.path.contributors.empty());
}

}  // namespace trainwatch::critical_path_test

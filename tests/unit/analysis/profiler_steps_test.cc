// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis_bench.h"

namespace trainwatch::profiler_steps_test {

CycleTrace cycle(SubjectId subject, std::int64_t number, std::size_t steps) {
  CycleTrace trace;
  trace.subject = subject;
  trace.number = number;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto step = static_cast<std::int64_t>(i);
    trace.steps.push_back({1000 * step, 900, 10 + step, 5 * step});
  }
  return trace;
}

TEST(ProfilerSteps, OneRowForEachStepOfEachCycle) {
  AnalysisBench bench("profiler_steps");
  bench.add(cycle(bench.rank("a", 1), 0, 2));
  bench.add(cycle(bench.rank("b", kNoRank), 0, 1));
  bench.add(cycle(bench.rank("a", 1), 1, 1));
  EXPECT_EQ(
      bench.text(),
      R"({"columns":["rank","cycle","step","ts_ns","dur_ns","data_wait_ns","compute_time_ns",)"
      R"("communication_time_ns","exposed_memory_time_ns","exposed_communication_time_ns",)"
      R"("exposed_other_time_ns","idle_data_wait_time_ns","idle_host_pause_time_ns",)"
      R"("idle_synchronization_time_ns","idle_launch_time_ns","idle_queued_time_ns","node"],)"
      R"("rows":[[null,0,10,0,900,0,0,0,0,0,0,0,0,0,0,0,"b"],)"
      R"([1,0,10,0,900,0,0,0,0,0,0,0,0,0,0,0,"a"],)"
      R"([1,0,11,1000,900,5,0,0,0,0,0,0,0,0,0,0,"a"],)"
      R"([1,1,10,0,900,0,0,0,0,0,0,0,0,0,0,0,"a"]],"left_out":0})");
  const std::string before = bench.text();
  bench.save_and_load();
  EXPECT_EQ(bench.text(), before);
}

TEST(ProfilerSteps, TheLastStepIsLeftOutWhereThatIsAsked) {
  AnalysisBench bench("profiler_steps", StepSelection::without_last);
  bench.add(cycle(bench.rank("a", 1), 0, 2));
  bench.add(cycle(bench.rank("a", 1), 1, 1));  // one step is no selection
  EXPECT_TRUE(has(bench.text(), R"("rows":[[1,0,10,0,900,)"));
  EXPECT_TRUE(has(bench.text(), R"("a"],[1,1,10,0,900,)"));
  EXPECT_FALSE(has(bench.text(), R"([1,0,11,)"));
}

TEST(ProfilerSteps, TheLastEightCyclesAreKept) {
  AnalysisBench bench("profiler_steps");
  for (int i = 0; i < 20; ++i) bench.add(cycle(bench.rank("a", 1), i, 1));
  EXPECT_FALSE(has(bench.text(), "[1,11,"));
  for (int i = 12; i < 20; ++i) EXPECT_TRUE(has(bench.text(), "[1," + std::to_string(i) + ","));
}

TEST(ProfilerSteps, WhatHasNoRoomIsCounted) {
  AnalysisBench bench("profiler_steps");
  bench.add(cycle(bench.rank("a", 1), 0, 600));
  EXPECT_TRUE(has(bench.text(), R"("left_out":88)"));
}

TEST(ProfilerSteps, DamagedStateIsRefused) {
  AnalysisBench bench("profiler_steps");
  bench.add(cycle(bench.rank("a", 1), 0, 3));
  const std::string state = bench.save();
  for (std::size_t i = 0; i < state.size(); ++i) EXPECT_FALSE(bench.loads(state.substr(0, i)));
}

}  // namespace trainwatch::profiler_steps_test

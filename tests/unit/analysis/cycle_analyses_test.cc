// SPDX-License-Identifier: Apache-2.0
// The analyses of cycles: what they write, keep and load. The numbers themselves are tested in
// unit/cycle.
#include <gmock/gmock.h>

#include "pipeline/analysis/catalog.h"
#include "unit/analysis/analysis_bench.h"
#include "unit/analysis/step_builder.h"

namespace trainwatch::cycle_analyses_test {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kTables = {"temporal_breakdown",        "idle_time_breakdown",
                                          "comm_comp_overlap",         "gpu_kernel_breakdown",
                                          "cuda_kernel_launch_stats",  "queue_length_summary",
                                          "memory_bw_summary",         "user_annotation_breakdown",
                                          "frequent_kernel_sequences", "critical_path"};

// Two steps; in the first 40 us of computation, the last 10 of them beside communication until 50,
// in the second 10 us of each and a copy.
CycleTrace two_steps(SubjectId rank, std::int64_t number) {
  HandMadeCycle built;
  built.of(rank, number).step(4, 0, 100).step(5, 100, 100);
  built.compute({10, 40, 7, built.launch(0)});
  built.communicate({40, 20, 20, built.launch(30)});
  built.host(101, 60, "aten::linear");
  built.compute({130, 10, 7, built.call(105)});
  built.communicate({140, 10, 20, built.call(110)});
  built.copy({150, 10, 7, built.call(120, 0, 5, "cudaMemcpyAsync")}, 12.5F);
  built.annotate(0, 20, "forward").annotate(10, 30, "forward", true);
  return built.build();
}

std::vector<std::string> all_names() {
  std::vector<std::string> names = kTables;
  names.emplace_back("stragglers");
  return names;
}

// With a row or more for each cycle.
class CycleTables : public testing::TestWithParam<std::string> {};

class CycleAnalyses : public testing::TestWithParam<std::string> {};

TEST_P(CycleTables, KeepTheLastEightCyclesOfARank) {
  AnalysisBench bench(GetParam());
  const SubjectId rank = bench.rank("algo-1", 3);
  for (std::int64_t number = 0; number < 9; ++number) bench.add(two_steps(rank, number));
  EXPECT_THAT(bench.text(), Not(HasSubstr(R"(,0,"algo-1"])"))) << bench.text();
  EXPECT_THAT(bench.text(), HasSubstr(R"(,1,"algo-1"])"));
  EXPECT_THAT(bench.text(), HasSubstr(R"(,8,"algo-1"])"));
}

TEST_P(CycleAnalyses, SayTheSameAfterSavingAndLoading) {
  AnalysisBench bench(GetParam());
  bench.add(two_steps(bench.rank("algo-1", 0), 0));
  const std::string before = bench.text();
  bench.save_and_load();
  EXPECT_EQ(bench.text(), before);
}

TEST_P(CycleAnalyses, DoNotDependOnTheOrderOfRanks) {
  AnalysisBench one(GetParam());
  AnalysisBench other(GetParam());
  one.add(two_steps(one.rank("algo-1", 0), 0));
  one.add(two_steps(one.rank("algo-2", 1), 0));
  other.add(two_steps(other.rank("algo-2", 1), 0));
  other.add(two_steps(other.rank("algo-1", 0), 0));
  EXPECT_EQ(one.text(), other.text());
}

TEST_P(CycleAnalyses, BrokenStateIsNotLoaded) {
  AnalysisBench bench(GetParam());
  bench.add(two_steps(bench.rank("algo-1", 0), 0));
  const std::string bytes = bench.save();
  EXPECT_TRUE(bench.loads(bytes));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(bench.loads(bytes.substr(0, cut)));
  EXPECT_FALSE(bench.loads(bytes + "x"));
  std::string strange_rank = bytes;
  strange_rank[4] = '\x7f';
  EXPECT_FALSE(bench.loads(strange_rank));
  std::string many_cycles = bytes;
  many_cycles[8] = '\x09';
  EXPECT_FALSE(bench.loads(many_cycles));
}

TEST_P(CycleAnalyses, ACycleWithoutGpuWorkIsNoError) {
  AnalysisBench bench(GetParam());
  HandMadeCycle built;
  built.of(bench.rank("algo-1", 0), 0).step(1, 0, 100);
  bench.add(built.build());
  EXPECT_THAT(bench.text(), HasSubstr("columns"));
  bench.save_and_load();
}

TEST_P(CycleAnalyses, CountWhatIsBeyondABound) {
  AnalysisBench bench(GetParam());
  CycleTrace cycle = two_steps(bench.rank("algo-1", 0), 0);
  cycle.left_out = 17;
  bench.add(cycle);
  for (int rank = 1; rank < 1025; ++rank) bench.add(two_steps(bench.rank("algo-1", rank), 0));
  bench.save_and_load();
  EXPECT_THAT(bench.text(), HasSubstr(R"("left_out":18})"));
}

std::string name_of(const testing::TestParamInfo<std::string>& tested) {
  return tested.param;
}

TEST(FrequentKernelSequences, AreRowsOfTheOperatorAskedFor) {
  const auto said = [](const std::string& op, StepSelection steps = StepSelection::included) {
    AnalysisBench bench("frequent_kernel_sequences", steps, op);
    bench.add(two_steps(bench.rank("algo-1", 3), 5));
    return bench.text();
  };
  const std::string row =
      R"(["aten::linear",["gemm","ncclDevKernel_AllReduce","Memcpy HtoD"],3,1,30000,60000,3,5,"algo-1"])";
  const std::string columns =
      R"({"columns":["operator","kernels","length","count","gpu_kernel_duration_ns",)"
      R"("cpu_op_duration_ns","rank","cycle","node"],"rows":[)";
  EXPECT_EQ(said(""), columns + row + R"(],"left_out":0})");
  EXPECT_EQ(said("linear"), said(""));
  EXPECT_EQ(said("conv"), columns + R"(],"left_out":0})");
  EXPECT_EQ(said("", StepSelection::without_last), said("conv"));
}

TEST(FrequentKernelSequences, AreBounded) {
  AnalysisBench bench("frequent_kernel_sequences");
  HandMadeCycle built;
  built.of(bench.rank("algo-1", 0));
  for (int i = 0; i < 40; ++i) {
    built.host(1000 * i, 900, "op" + std::to_string(i));
    const std::uint32_t graph = built.call(1000 * i + 1);
    for (int kernel = 0; kernel < 100; ++kernel)
      built.compute({1000 * i + 2 + kernel, 1, 7, graph});
  }
  bench.add(built.build());
  const std::string text = bench.text();
  std::size_t kernels = 0;
  for (std::size_t at = text.find("gemm"); at != std::string::npos; at = text.find("gemm", at + 1))
    ++kernels;
  EXPECT_EQ(kernels, 32U * 64U);
  EXPECT_THAT(text, HasSubstr(R"("gemm"],100,1,100000,900000,)"));
  EXPECT_THAT(text, HasSubstr(R"("left_out":8})"));
  bench.save_and_load();
  EXPECT_EQ(bench.text(), text);
}

INSTANTIATE_TEST_SUITE_P(All, CycleTables, testing::ValuesIn(kTables), name_of);
INSTANTIATE_TEST_SUITE_P(All, CycleAnalyses, testing::ValuesIn(all_names()), name_of);

std::string text_of(const std::string& name, StepSelection steps = StepSelection::included) {
  AnalysisBench bench(name, steps);
  bench.add(two_steps(bench.rank("algo-1", 0), 2));
  return bench.text();
}

TEST(TemporalBreakdownTable, CyclesAndSteps) {
  const std::string text = text_of("temporal_breakdown");
  EXPECT_THAT(text, HasSubstr(R"({"columns":["rank","idle_time_ns","compute_time_ns",)"));
  EXPECT_THAT(text, HasSubstr(R"([[0,70000,50000,30000,150000,46.67,33.33,20,2,"algo-1"]])"));
  EXPECT_THAT(text, HasSubstr(R"("per_iteration":{"columns":["iteration","rank",)"));
  EXPECT_THAT(text, HasSubstr(R"([4,0,0,40000,10000,50000,0,80,20,50,20000,10000,2,"algo-1"])"));
  EXPECT_THAT(text, HasSubstr(R"([5,0,0,10000,20000,30000,0,33.33,66.67,0,10000,0,2,"algo-1"])"));
}

TEST(TemporalBreakdownTable, WithoutTheLastStep) {
  const std::string text = text_of("temporal_breakdown", StepSelection::without_last);
  EXPECT_THAT(text, HasSubstr(R"([[0,0,40000,10000,50000,0,80,20,2,"algo-1"]])"));
  EXPECT_THAT(text, Not(HasSubstr("[5,0,")));
}

TEST(TemporalBreakdownTable, SharesOfNothingAreNull) {
  AnalysisBench bench("temporal_breakdown");
  bench.add(CycleTrace{});
  EXPECT_THAT(bench.text(), HasSubstr(R"([null,0,0,0,0,null,null,null,0,""])"));
}

TEST(CommCompOverlapTable, Share) {
  EXPECT_THAT(text_of("comm_comp_overlap"), HasSubstr(R"([[0,33.33,30000,10000,2,"algo-1"]])"));
}

TEST(IdleTimeBreakdownTable, CausesAndIntervals) {
  const std::string text = text_of("idle_time_breakdown");
  EXPECT_THAT(text, HasSubstr(R"([0,7,"host_wait",80000,0.89,2,"algo-1"])"));
  EXPECT_THAT(text, HasSubstr(R"([0,7,"kernel_wait",10000,0.11,2,"algo-1"])"));
  EXPECT_THAT(text, HasSubstr(R"([0,7,"other",0,0,2,"algo-1"])"));
  EXPECT_THAT(text, HasSubstr(R"(["host_wait",0,7,1,80000,null,80000,80000,80000,80000,80000,2,)"));
}

TEST(GpuKernelBreakdownTable, MixesAndKernels) {
  const std::string text = text_of("gpu_kernel_breakdown");
  EXPECT_THAT(text, HasSubstr(R"(["COMPUTATION",40000,57.1,0,2,"algo-1"])"));
  EXPECT_THAT(text, HasSubstr(R"(["COMPUTATION overlapping COMMUNICATION",10000,14.3,0,)"));
  EXPECT_THAT(text, HasSubstr(R"(["MEMORY",10000,12.5,0,2,"algo-1"])"));
  EXPECT_THAT(text,
              HasSubstr(R"(["gemm",2,50000,40000,10000,21213,25000,"COMPUTATION",0,2,"algo-1"])"));
}

TEST(CudaKernelLaunchStatsTable, CountsDurationsAndNames) {
  const std::string text = text_of("cuda_kernel_launch_stats");
  EXPECT_THAT(text, HasSubstr(R"([[0,5,0,0,0,2,"algo-1"]])"));
  EXPECT_THAT(text, HasSubstr(R"(["cpu_duration",25000,5000,5000,5000,0,5000,5000,5000,0,2,)"));
  EXPECT_THAT(text, HasSubstr(R"(["cudaMemcpyAsync",1,1,5000,10000,25000,0,2,"algo-1"])"));
}

TEST(QueueLengthSummaryTable, OneRowPerStream) {
  const std::string text = text_of("queue_length_summary");
  EXPECT_THAT(text, HasSubstr(R"([0,7,6,0.8333333333333334,)"));
  EXPECT_THAT(text, HasSubstr(R"([0,20,4,0.5,)"));
}

TEST(MemoryBwSummaryTable, OneRowPerKind) {
  EXPECT_THAT(text_of("memory_bw_summary"),
              HasSubstr(R"([[0,"Memcpy HtoD",1,12.5,null,12.5,12.5,12.5,12.5,12.5,2,)"));
}

TEST(UserAnnotationBreakdownTable, HostAndGpu) {
  const std::string text = text_of("user_annotation_breakdown");
  EXPECT_THAT(text, HasSubstr(R"(["forward",1,20000,20000,20000,0,20000,0,2,"algo-1"])"));
  EXPECT_THAT(text, HasSubstr(R"(["forward",1,30000,30000,30000,0,30000,0,2,"algo-1"])"));
}

TEST(CriticalPathTable, StepsAndContributors) {
  AnalysisBench bench("critical_path");
  StepBuilder built;
  built.of(bench.rank("algo-1", 0), 2).step(4, 0, 100);
  built.op(0, 20, "aten::linear").compute({10, 60, 7, built.call(5)});
  bench.add(built.build());
  bench.save_and_load();
  const std::string text = bench.text();
  EXPECT_THAT(text, HasSubstr(R"({"columns":["iteration","rank","critical_path_ns","step_ns",)"));
  EXPECT_THAT(text, HasSubstr(R"([[4,0,70000,100000,5000,0,60000,0,0,0,5000,7.14,0,85.71,0,0,0,)"
                              R"(7.14,false,0,2,"algo-1"]])"));
  EXPECT_THAT(text, HasSubstr(R"([4,0,"gemm","device","gpu_compute_bound",60000,85.71,1,2,)"));
  EXPECT_THAT(text, HasSubstr(R"([4,0,"gemm","device","gpu_kernel_launch_overhead",5000,7.14,1,)"));
  EXPECT_THAT(text, HasSubstr(R"([4,0,"aten::linear","host","cpu_bound",5000,7.14,1,2,)"));
  EXPECT_THAT(text, HasSubstr(R"("sync_events":false,"left_out":0})"));
}

TEST(CriticalPathTable, HasSyncEventsWhereAllCyclesHave) {
  AnalysisBench bench("critical_path");
  const auto add = [&](int rank, bool with_syncs) {
    StepBuilder built;
    built.of(bench.rank("algo-1", rank), 0).step(4, 0, 100);
    const std::uint32_t call = built.call(5, 10, "cudaDeviceSynchronize");
    if (with_syncs) built.sync("Context Sync", {call});
    bench.add(built.build());
  };
  add(0, true);
  EXPECT_THAT(bench.text(), HasSubstr(R"("sync_events":true)"));
  add(1, false);
  EXPECT_THAT(bench.text(), HasSubstr(R"("sync_events":false)"));
}

TEST(CriticalPathTable, BoundsSteps) {
  AnalysisBench bench("critical_path");
  HandMadeCycle built;
  built.of(bench.rank("algo-1", 0), 0);
  for (int i = 0; i < 130; ++i) built.step(i, 100 * i, 100);
  bench.add(built.build());
  bench.save_and_load();
  EXPECT_THAT(bench.text(), HasSubstr("[127,0,0,"));
  EXPECT_THAT(bench.text(), Not(HasSubstr("[128,0,0,")));
  EXPECT_THAT(bench.text(), HasSubstr(R"("left_out":2})"));
}

// A step of 100 us: what is not communication is the rank's own.
CycleTrace steps_of(SubjectId rank, std::int64_t first, const std::vector<std::int64_t>& own) {
  HandMadeCycle built;
  built.of(rank, 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto start = static_cast<std::int64_t>(100 * i);
    built.step(first + static_cast<std::int64_t>(i), start, 100);
    built.communicate({start + own[i], 100 - own[i], 20, built.launch(start)});
  }
  return built.build();
}

TEST(StragglersTable, WhoIsWaitedForInSeveralSteps) {
  AnalysisBench bench("stragglers");
  bench.add(steps_of(bench.rank("algo-1", 0), 4, {50, 50, 50, 51}));
  bench.add(steps_of(bench.rank("algo-1", 1), 4, {50, 70, 80, 90}));
  bench.add(steps_of(bench.rank("algo-2", 2), 4, {50, 51, 50, 90}));
  bench.add(steps_of(bench.rank("algo-2", 3), 4, {49, 50, 50, 51}));
  bench.add(steps_of(bench.rank("algo-2", 4), 4, {49, 50, 50, 51}));
  bench.save_and_load();
  EXPECT_THAT(bench.text(), HasSubstr(R"([0,false,4,0,0,199000,0,0,"algo-1"])"));
  EXPECT_THAT(bench.text(), HasSubstr(R"([1,true,4,3,89000,110000,0,0,"algo-1"])"));
  EXPECT_THAT(bench.text(), HasSubstr(R"([2,false,4,1,39000,159000,0,0,"algo-2"])"));
}

TEST(StragglersTable, StepsAreComparedByTheirNumberWithAnotherAtLeast) {
  AnalysisBench bench("stragglers");
  bench.add(steps_of(bench.rank("algo-1", 0), 4, {50, 50, 50, 50}));
  bench.add(steps_of(bench.rank("algo-1", 1), 5, {90, 90, 90, 90}));
  bench.add(steps_of(bench.rank("algo-1", 2), 6, {50, 50, 50, 50}));
  EXPECT_THAT(bench.text(), HasSubstr(R"([1,true,4,4,160000,40000,0,0,"algo-1"])"));
}

}  // namespace trainwatch::cycle_analyses_test

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "pipeline/analysis/hta/cycle_results.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::kernel_sequences_test {

using testing::ElementsAre;

// "op: a b c | count device_us host_us"
std::vector<std::string> lines(const CycleTrace& cycle, const std::string& text = "") {
  std::vector<std::string> found;
  for (const KernelSequence& of : kernel_sequences(cycle, all_rows(cycle), text)) {
    std::string line = std::string(cycle.names.text(of.op)) + ":";
    for (const NameId kernel : of.kernels) line.append(" ").append(cycle.names.text(kernel));
    found.push_back(line + " | " + std::to_string(of.count) + " " +
                    std::to_string(of.device_ns / 1000) + " " + std::to_string(of.host_ns / 1000));
  }
  return found;
}

// An operator that launches one kernel of each name, the first one at `start` + 1.
void launch_all(HandMadeCycle& builder, std::int64_t start, const std::string& op,
                const std::vector<std::string>& kernels, std::uint32_t thread = 0) {
  builder.host(start, 90, op, thread);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) * 20;
    builder.compute({start + at + 8, 10, 7, builder.call(start + at + 1, thread)}, kernels[i]);
  }
}

TEST(KernelSequences, AreCountedByOperatorAndKernels) {
  HandMadeCycle builder;
  for (const int start : {100, 200, 300}) launch_all(builder, start, "aten::a", {"x", "y", "z"});
  for (const int start : {400, 500}) launch_all(builder, start, "aten::b", {"x", "y", "z"});
  for (const int start : {600, 700}) launch_all(builder, start, "aten::b", {"x", "z", "y", "y"});
  EXPECT_THAT(lines(builder.build()),
              ElementsAre("aten::a: x y z | 3 90 270", "aten::b: x z y y | 2 80 180",
                          "aten::b: x y z | 2 60 180"));
}

TEST(KernelSequences, TiesAreInTheOrderOfNames) {
  HandMadeCycle builder;
  launch_all(builder, 100, "b", {"x", "y", "z"});
  launch_all(builder, 200, "a", {"x", "y", "z"});
  launch_all(builder, 300, "a", {"x", "y", "x"});
  EXPECT_THAT(lines(builder.build()),
              ElementsAre("a: x y x | 1 30 90", "a: x y z | 1 30 90", "b: x y z | 1 30 90"));
}

TEST(KernelSequences, ShortOnesAreNone) {
  HandMadeCycle builder;
  launch_all(builder, 100, "aten::a", {"x", "y"});
  EXPECT_THAT(lines(builder.build()), ElementsAre());
}

TEST(KernelSequences, AreInTheOrderOfTheirStartsNotOfTheirLaunches) {
  HandMadeCycle builder;
  builder.host(0, 90, "aten::a");
  builder.compute({90, 1, 7, builder.call(1)}, "last");
  builder.compute({40, 1, 8, builder.call(10)}, "first");
  builder.copy({60, 1, 9, builder.call(20, 0, 5, "cudaMemcpyAsync")}, 1);
  EXPECT_THAT(lines(builder.build()), ElementsAre("aten::a: first Memcpy HtoD last | 1 3 90"));
}

TEST(KernelSequences, TheOutermostOperatorHasThemAll) {
  HandMadeCycle builder;
  builder.host(90, 500, "ProfilerStep#1", 0, HostKind::annotation)
      .host(95, 400, "forward", 0, HostKind::other)
      .host(100, 200, "aten::linear")
      .host(100, 200, "aten::addmm");  // begins and ends with it
  launch_all(builder, 105, "aten::mm", {"x", "y", "z"});
  const CycleTrace cycle = builder.build();
  EXPECT_THAT(lines(cycle), ElementsAre("aten::linear: x y z | 1 30 200"));
  EXPECT_THAT(lines(cycle, "mm"), ElementsAre("aten::addmm: x y z | 1 30 200"));
  EXPECT_THAT(lines(cycle, "aten::mm"), ElementsAre("aten::mm: x y z | 1 30 90"));
  EXPECT_THAT(lines(cycle, "ward"), ElementsAre("forward: x y z | 1 30 400"));
  EXPECT_THAT(lines(cycle, "none of them"), ElementsAre());
}

// HTA looks at the matches that are nested least in the whole trace: the one outside of the step
// would hide the other.
TEST(KernelSequences, OfAllDepthsAtOnce) {
  HandMadeCycle builder;
  launch_all(builder, 100, "aten::a", {"x", "y", "z"});
  builder.host(200, 300, "ProfilerStep#1", 0, HostKind::annotation).host(205, 200, "outer");
  launch_all(builder, 210, "aten::a", {"x", "y", "z"});
  EXPECT_THAT(lines(builder.build(), "aten::a"), ElementsAre("aten::a: x y z | 2 60 180"));
}

// In 2021 steps are written as operators.
TEST(KernelSequences, AStepIsNoOperator) {
  HandMadeCycle builder;
  builder.host(90, 500, "ProfilerStep#1");
  launch_all(builder, 100, "aten::a", {"x", "y", "z"});
  EXPECT_THAT(lines(builder.build()), ElementsAre("aten::a: x y z | 1 30 90"));
}

TEST(KernelSequences, CallsOfAnotherThreadAreNotIts) {
  HandMadeCycle builder;
  builder.host(100, 900, "aten::waits", 0);
  launch_all(builder, 100, "autograd", {"x", "y", "z"}, 1);
  EXPECT_THAT(lines(builder.build()), ElementsAre("autograd: x y z | 1 30 90"));
}

// HTA counts the last kernel of a graph only.
TEST(KernelSequences, AGraphLaunchesAllItsKernels) {
  HandMadeCycle builder;
  builder.host(100, 50, "CudaGraph.replay");
  const std::uint32_t graph = builder.call(110, 0, 5, "cudaGraphLaunch");
  for (const int start : {120, 130, 140, 150}) builder.compute({start, 10, 7, graph}, "node");
  EXPECT_THAT(lines(builder.build()),
              ElementsAre("CudaGraph.replay: node node node node | 1 40 50"));
}

TEST(KernelSequences, WaitsAreNoWorkAndCallsMayLaunchNothing) {
  HandMadeCycle builder;
  launch_all(builder, 100, "aten::a", {"x", "y"});
  builder.wait({160, 10, 7, builder.call(150, 0, 5, "cudaStreamSynchronize")});
  builder.call(160, 0, 5, "cudaFree");
  EXPECT_THAT(lines(builder.build()), ElementsAre());
}

TEST(KernelSequences, OperatorsOfNoLengthHaveWhatBeginsWithThem) {
  HandMadeCycle builder;
  builder.host(100, 0, "aten::empty").host(100, 90, "aten::a");
  for (const int at : {100, 120, 140}) builder.compute({at + 8, 1, 7, builder.call(at)}, "x");
  builder.host(300, 0, "aten::empty");
  builder.compute({308, 1, 7, builder.call(300)}, "x");
  EXPECT_THAT(lines(builder.build()), ElementsAre("aten::a: x x x | 1 3 90"));
}

TEST(KernelSequences, OnlyRowsThatCount) {
  HandMadeCycle builder;
  launch_all(builder, 100, "aten::a", {"x", "y", "z", "w"});
  const CycleTrace cycle = builder.build();
  const std::vector<std::uint32_t> rows = {0, 2, 3};
  const auto found = kernel_sequences(cycle, rows, "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kernels.size(), 3U);
}

// HTA rounds times to microseconds, finds calls that end before they begin, and gives up
// ("Unexpected case"): so does every trace with nanoseconds.
TEST(KernelSequences, TimesOfNanoseconds) {
  CycleTrace cycle;
  const NameId op = cycle.names.intern("aten::a");
  const NameId kernel = cycle.names.intern("x");
  cycle.places = {{7, 0, 0}};
  cycle.host.push_back({1'000, 301, op, 0, kNoLaunch, HostKind::op});
  for (std::uint32_t i = 0; i < 3; ++i) {
    cycle.launches.push_back({1'100 + i * 100, 100, op});
    cycle.host.push_back({1'100 + i * 100, 100 + i, op, 0, i, HostKind::call});
    DeviceActivity& row = cycle.device.emplace_back();
    row.start_ns = 1'500 + i * 7;
    row.duration_ns = 3;
    row.name = kernel;
    row.launch = i & kNoLaunch;
  }
  const auto found = kernel_sequences(cycle, all_rows(cycle), "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].device_ns, 9);
  EXPECT_EQ(found[0].host_ns, 301);
}

}  // namespace trainwatch::kernel_sequences_test

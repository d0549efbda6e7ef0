// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/trace_diff.h"

#include <gmock/gmock.h>

#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::trace_diff_test {

using testing::ElementsAre;

TraceTotals totals(CycleTrace cycle, StepSelection steps = StepSelection::included) {
  TraceTotals found;
  found.add(SelectedCycle(cycle, steps));
  return found;
}

std::vector<std::string> lines(const std::vector<TraceChange>& changes) {
  std::vector<std::string> found;
  for (const TraceChange& of : changes) {
    found.push_back(of.of.name + (of.of.on_device ? " on device " : " ") + of.category() + " " +
                    std::to_string(of.count_difference()) + " " +
                    std::to_string(of.duration_difference_ns()));
  }
  return found;
}

CycleTrace trace(int adds, std::int64_t add_us, const std::string& kernel) {
  HandMadeCycle builder;
  for (int i = 0; i < adds; ++i) builder.host(100 + 20 * i, add_us, "aten::add");
  builder.host(90, 3, "aten::same");
  builder.compute({200, 40, 7, builder.call(150)}, kernel);
  return builder.build();
}

TEST(TraceDiff, ByNameTheLargestDifferenceFirst) {
  EXPECT_THAT(
      lines(trace_diff(totals(trace(2, 10, "old")), totals(trace(3, 20, "new")))),
      ElementsAre("aten::add + 1 40000", "new on device + 1 40000", "old on device - -1 -40000",
                  "aten::same = 0 0", "cudaLaunchKernel = 0 0"));
}

TEST(TraceDiff, TheOtherWayAround) {
  const TraceTotals one = totals(trace(2, 10, "old"));
  const TraceTotals other = totals(trace(3, 20, "new"));
  const auto forth = trace_diff(one, other);
  const auto back = trace_diff(other, one);
  ASSERT_EQ(forth.size(), back.size());
  for (std::size_t i = 0; i < forth.size(); ++i) {
    EXPECT_EQ(forth[i].of, back[i].of);
    EXPECT_EQ(forth[i].duration_difference_ns(), -back[i].duration_difference_ns());
    EXPECT_EQ(forth[i].count_difference(), -back[i].count_difference());
  }
  for (const TraceChange& of : trace_diff(one, one)) EXPECT_STREQ(of.category(), "=");
}

TEST(TraceDiff, OneNameOnHostAndDeviceIsTwo) {
  HandMadeCycle builder;
  builder.host(100, 20, "both").compute({100, 30}, "both");
  EXPECT_THAT(lines(trace_diff(TraceTotals{}, totals(builder.build()))),
              ElementsAre("both on device + 1 30000", "both + 1 20000"));
}

TEST(TraceDiff, StepsHaveOneNameAndAreCounted) {
  HandMadeCycle builder;
  for (const int step : {7, 8, 9}) {
    builder.step(step, 100 * step, 90);
    builder.host(100 * step, 90, "ProfilerStep#" + std::to_string(step), 0, HostKind::annotation);
  }
  builder.host(995, 1, "after the last");
  const CycleTrace cycle = builder.build();
  const auto counted = [&](StepSelection steps) {
    TraceTotals found;
    found.add(SelectedCycle(cycle, steps));
    return std::to_string(found.steps) + ": " +
           std::to_string(found.names[{"ProfilerStep", false}].count) + " " +
           std::to_string(found.names[{"after the last", false}].count);
  };
  EXPECT_EQ(counted(StepSelection::included), "3: 3 0");
  EXPECT_EQ(counted(StepSelection::without_last), "2: 2 0");
  EXPECT_EQ(counted(StepSelection::all), "3: 3 1");
}

TEST(TraceDiff, CyclesOfARankAddUp) {
  const CycleTrace cycle = trace(2, 10, "k");
  TraceTotals twice;
  for (int i = 0; i < 2; ++i) twice.add(SelectedCycle(cycle, StepSelection::included));
  EXPECT_EQ((twice.names[{"aten::add", false}].count), 4U);
  EXPECT_EQ((twice.names[{"k", true}].duration_ns), 80'000);
}

TEST(TraceDiff, NamesBeyondABoundAreLeftOut) {
  HandMadeCycle builder;
  constexpr auto kMost = static_cast<int>(TraceTotals::kMostNames);
  for (int i = 0; i < kMost + 3; ++i) builder.host(i, 1, "op" + std::to_string(i));
  const TraceTotals found = totals(builder.build());
  EXPECT_EQ(found.names.size(), TraceTotals::kMostNames);
  EXPECT_EQ(found.left_out, 3U);
}

TEST(TraceDiff, TotalsComeBackFromTheirState) {
  TraceTotals saved = totals(trace(2, 10, "k"));
  StateIo saving = StateIo::saving();
  saved.state(saving);
  const std::string bytes = saving.take();
  TraceTotals loaded;
  StateIo loading = StateIo::loading(bytes);
  loaded.state(loading);
  EXPECT_TRUE(loading.complete());
  for (const TraceChange& of : trace_diff(saved, loaded)) {
    EXPECT_STREQ(of.category(), "=");
    EXPECT_EQ(of.duration_difference_ns(), 0);
  }
}

}  // namespace trainwatch::trace_diff_test

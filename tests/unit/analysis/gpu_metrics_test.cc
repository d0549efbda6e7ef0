// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/gpu_metrics.h"

#include <gtest/gtest.h>

#include "pipeline/cycle/cycle_summary.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::gpu_metrics_test {

class GpuMetricsTest : public testing::Test {
 protected:
  CycleTrace cycle(std::int32_t rank, std::int64_t busy_us) {
    HandMadeCycle builder;
    builder.compute({0, busy_us, 7, builder.launch(-20)});
    builder.communicate({busy_us, 100, 20, builder.launch(-10)});
    builder.compute({1000, 100, 7, builder.launch(900)});
    builder.step(1, -50, 1000);
    builder.of(interner_.subjects.intern({"", "node", rank, ""}).value());
    return builder.build();
  }
  void add(const CycleTrace& cycle) {
    const SelectedCycle selected(cycle, StepSelection::included);
    metrics_.on(selected, summarize(selected));
  }
  // The values of a family in the order of its points.
  std::vector<double> values(const std::string& name) const {
    std::vector<MetricFamily> families;
    metrics_.collect({}, families);
    std::vector<double> found;
    for (const MetricFamily& family : families) {
      if (family.name != "trainwatch_" + name) continue;
      for (const MetricPoint& point : family.points) found.push_back(point.value);
    }
    return found;
  }

  Interner interner_;
  GpuMetrics metrics_{interner_};
};

TEST_F(GpuMetricsTest, RatiosOfTheLatestCycleAndTotalsOfAll) {
  add(cycle(0, 300));
  add(cycle(0, 900));
  EXPECT_EQ(values("gpu_busy_ratio"), std::vector{1.0});
  EXPECT_EQ(values("comm_comp_overlap_ratio"), std::vector{0.0});
  EXPECT_EQ(values("gpu_idle_seconds_total"), (std::vector{600e-6, 0.0, 0.0}));
  EXPECT_EQ(values("gpu_time_seconds_total"), (std::vector{1400e-6, 200e-6, 0.0}));
  EXPECT_EQ(values("data_wait_ratio"), std::vector{0.0});
}

TEST_F(GpuMetricsTest, RanksAreApart) {
  add(cycle(0, 300));
  add(cycle(1, 400));
  EXPECT_EQ(values("gpu_busy_ratio"), (std::vector{500.0 / 1100, 600.0 / 1100}));
}

TEST_F(GpuMetricsTest, GoesOnWhereItWasSaved) {
  add(cycle(0, 300));
  StateIo out = StateIo::saving();
  metrics_.state(out);
  const std::string bytes = out.take();
  GpuMetrics other(interner_);
  StateIo in = StateIo::loading(bytes);
  other.state(in);
  EXPECT_TRUE(in.complete());
  StateIo again = StateIo::saving();
  other.state(again);
  EXPECT_EQ(again.take(), bytes);
}

}  // namespace trainwatch::gpu_metrics_test

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/analysis/hta/cycle_results.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::launch_stats_test {

HandMadeCycle launches() {
  HandMadeCycle built;
  built.compute({20, 2, 7, built.launch(0, 10)});                         // short, waits 10
  built.compute({300, 80, 7, built.launch(100, 51)});                     // long call, waits 149
  built.copy({205, 50, 8, built.launch(200, 10, "cudaMemcpyAsync")}, 1);  // begins in the call
  built.compute({500, 9, 7, built.launch(400, 4, "cuLaunchKernel")});
  const std::uint32_t graph = built.launch(600, 20, "cudaGraphLaunch");
  built.compute({640, 10, 7, graph}).compute({650, 10, 7, graph}).compute({660, 10, 8, graph});
  built.wait({700, 5, 7, built.launch(690, 20, "cudaStreamSynchronize")});
  built.launch(800, 1);  // launched nothing
  return built;
}

TEST(LaunchStats, PlainLaunchesOnly) {
  const CycleTrace cycle = launches().build();
  const LaunchStats found = launch_stats(cycle, all_rows(cycle));
  EXPECT_EQ(found.count, 3U);
  EXPECT_EQ(found.short_kernels, 1U);
  EXPECT_EQ(found.runtime_outliers, 1U);
  EXPECT_EQ(found.launch_delay_outliers, 1U);
  EXPECT_EQ(found.cpu_duration.sum_ns, 71'000);
  EXPECT_EQ(found.gpu_duration.sum_ns, 132'000);
  EXPECT_EQ(found.launch_delay.sum_ns, 159'000);
  EXPECT_DOUBLE_EQ(found.launch_delay.min_ns, 0);
  EXPECT_DOUBLE_EQ(found.launch_delay.p50_ns, 10'000);
}

TEST(LaunchStats, AGraphIsOneLaunchOfAllItsKernels) {
  const CycleTrace cycle = launches().build();
  const auto found = launches_by_name(cycle, all_rows(cycle));
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].name, "cudaLaunchKernel");
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_EQ(found[1].name, "cudaGraphLaunch");
  EXPECT_EQ(found[1].count, 1U);
  EXPECT_EQ(found[1].rows, 3U);
  EXPECT_EQ(found[1].cpu_ns, 20'000);
  EXPECT_EQ(found[1].gpu_ns, 30'000);
  EXPECT_EQ(found[1].delay_ns, 20'000);
}

TEST(LaunchStats, WithoutLaunchesThereAreNoMeans) {
  const LaunchStats found = launch_stats(CycleTrace{}, {});
  EXPECT_EQ(found.count, 0U);
  EXPECT_TRUE(std::isnan(found.cpu_duration.mean_ns));
}

}  // namespace trainwatch::launch_stats_test

// SPDX-License-Identifier: Apache-2.0
// job_statistics, utilization_stats and device_usage_stats.
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::job_analyses_test {

TEST(JobStatistics, ThreePartsMakeTheJob) {
  AnalysisBench bench("job_statistics");
  bench.sample("cpu", "cpu0", "CPUUtilization", 1000, 5);
  bench.step(3000, 500, 0);
  bench.save_and_load();
  bench.step(3500, 500, 1);
  bench.sample("cpu", "cpu0", "CPUUtilization", 5000, 5);
  for (const char* part :
       {R"("job_duration_us":4000)", R"("initialization_us":2000)",
        R"("training_loop_duration_us":1000)", R"("finalization_us":1000)",
        R"("initialization_%":50)", R"("training_loop_%":25)", R"("finalization_%":25)"}) {
    EXPECT_TRUE(has(bench.text(), part)) << part << " in " << bench.text();
  }
}

TEST(JobStatistics, WhatIsNotKnownYetIsNull) {
  AnalysisBench bench("job_statistics");
  EXPECT_TRUE(has(bench.text(), R"("job_duration_us":null)")) << bench.text();
  bench.sample("cpu", "cpu0", "CPUUtilization", 1000, 5);
  EXPECT_TRUE(has(bench.text(), R"("job_duration_us":0)")) << bench.text();
  EXPECT_TRUE(has(bench.text(), R"("initialization_us":null)")) << bench.text();
}

TEST(JobStatistics, KnowsTheFrameworkByItsEvents) {
  AnalysisBench torch("job_statistics");
  torch.add(torch.span("Backward(post-forward)", "model", 0, 1, 0));
  EXPECT_TRUE(has(torch.text(), R"("framework":"pytorch")"));
  AnalysisBench tensorflow("job_statistics");
  tensorflow.add(tensorflow.span("DataIterator", "dataset::GetNext", 0, 1));
  EXPECT_TRUE(has(tensorflow.text(), R"("framework":"tensorflow")"));
}

TEST(UtilizationStats, DevicesTogetherAndDimensionsApart) {
  AnalysisBench bench("utilization_stats");
  bench.sample("gpu", "gpu0", "GPUUtilization", 0, 10);
  bench.sample("gpu", "gpu1", "GPUUtilization", 0, 30);
  bench.save_and_load();
  bench.sample("gpu", "gpu0", "GPUMemoryUtilization", 0, 80);
  EXPECT_TRUE(has(bench.text(), R"(["gpu","algo-1",40,10,80,30,75,79])")) << bench.text();
  EXPECT_TRUE(has(bench.text(), R"(["gpu","algo-1","GPUUtilization","",20,10,30,20,29,29.8,2])"))
      << bench.text();
}

TEST(DeviceUsageStats, AnEdgeBelongsToTheUpperRange) {
  AnalysisBench bench("device_usage_stats");
  for (const double value : {0.0, 9.9, 10.0, 89.9, 90.0, 100.0, 100.1, -1.0}) {
    bench.sample("gpu", "gpu0", "GPUUtilization", 0, value);
    bench.save_and_load();
  }
  bench.sample("i/o", "IOPS", "", 0, 5);
  EXPECT_TRUE(has(bench.text(), R"("rows":[["gpu","algo-1",2,2,2]])")) << bench.text();
}

}  // namespace trainwatch::job_analyses_test

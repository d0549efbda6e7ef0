// SPDX-License-Identifier: Apache-2.0
// overall_system_usage and overall_framework_metrics.
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::overall_analyses_test {

TEST(OverallSystemUsage, TheDevicesOfATimeAreOneValue) {
  AnalysisBench bench("overall_system_usage");
  bench.sample("cpu", "cpu0", "CPUUtilization", 0, 10);
  bench.save_and_load();
  bench.sample("cpu", "cpu1", "CPUUtilization", 0, 30);
  bench.sample("cpu", "cpu0", "CPUUtilization", 5, 40);
  EXPECT_TRUE(has(bench.text(), R"(["CPU","algo-1",40,39.8,39,30,20,2])")) << bench.text();
}

TEST(OverallSystemUsage, TheNetworkIsWhatGoesInAndOut) {
  AnalysisBench bench("overall_system_usage");
  bench.sample("network", "ReceiveBytesPerSecond", "Algorithm", 0, 5);
  bench.sample("network", "TransmitBytesPerSecond", "Algorithm", 0, 7);
  bench.sample("network", "TransmitBytesPerSecond", "Platform", 0, 1000);
  bench.sample("i/o", "IOPS", "", 0, 1000);
  EXPECT_TRUE(has(bench.text(), R"("rows":[["Network","algo-1",12,12,12,12,12,1]])"))
      << bench.text();
}

TEST(OverallSystemUsage, ALessThanNothingIsNothing) {
  AnalysisBench bench("overall_system_usage");
  bench.sample("memory", "MemoryUsedPercent", "", 0, -3);
  EXPECT_TRUE(has(bench.text(), R"(["CPU memory","algo-1",0,0,0,0,0,1])")) << bench.text();
}

TEST(OverallFrameworkMetrics, WhatTheLoopDoesBesideItsSteps) {
  AnalysisBench bench("overall_framework_metrics");
  bench.step(100, 30, 0);
  bench.save_and_load();
  bench.step(150, 30, 1, "Step:ModeKeys.EVAL");
  Span other = bench.span("Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", 900, 20, 0);
  other.subject = bench.rank("algo-2", 1);  // another clock
  bench.add(other);
  EXPECT_TRUE(has(bench.text(),
                  R"("rows":[["Step:ModeKeys.TRAIN",50,50],["Step:ModeKeys.EVAL",30,30],)"
                  R"(["others",20,20]])"))
      << bench.text();
}

TEST(OverallFrameworkMetrics, EachEventInItsBucket) {
  AnalysisBench bench("overall_framework_metrics");
  bench.add(bench.span("Forward-SubModuleInternal", "conv", 0, 30));
  bench.add(bench.span("Backward-SubModuleInternal", "conv", 0, 10));
  bench.add(bench.span("DataLoaderWorker", "_worker_loop", 0, 8));
  bench.add(bench.span("NcclManager", "kAllReduce", 0, 8));
  bench.add(bench.span("gpu_functions-dev:0", "gemm", 0, 5));
  Span reduce = bench.span("tensor", "NCCL_ALLREDUCE", 0, 9);
  reduce.kind = SpanKind::communication;
  bench.add(reduce);
  bench.save_and_load();
  const std::string text = bench.text();
  EXPECT_TRUE(has(text, R"("rows":[["Forward pass",75,30],["Backward pass",25,10]])")) << text;
  EXPECT_TRUE(has(text, R"("rows":[["DataLoaderWorker",50,8],["NcclManager",50,8]])")) << text;
  EXPECT_TRUE(has(text, R"(["gemm",100,5])")) << text;
  EXPECT_TRUE(has(text, R"(["NCCL_ALLREDUCE",100,9])")) << text;
}

TEST(OverallFrameworkMetrics, RareOperatorsAreNotShown) {
  AnalysisBench bench("overall_framework_metrics");
  bench.add(bench.span("cpu_functions", "add", 0, 60));
  bench.add(bench.span("cpu_functions", "mul", 0, 38));
  bench.add(bench.span("CPU_functions", "view", 0, 2));
  Span kineto = bench.span("cpu_op", "other", 0, 1000);
  kineto.origin = Origin::profiler;
  bench.add(kineto);
  EXPECT_TRUE(has(bench.text(), R"(["add",61.224489795918366,60],["mul",38.775510204081634,38]])"))
      << bench.text();
}

}  // namespace trainwatch::overall_analyses_test

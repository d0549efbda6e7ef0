// SPDX-License-Identifier: Apache-2.0
#include "unit/analysis/analysis_bench.h"

namespace trainwatch::time_annotations_test {

TEST(TimeAnnotations, SumsByNamePhaseAndStep) {
  AnalysisBench bench("time_annotations");
  bench.add(bench.span("Forward", "model", 200, 10, 1));
  bench.add(bench.span("Forward", "model", 100, 5, 1));
  bench.add(bench.span("Forward", "model", 300, 7, 2));
  bench.add(bench.span("DataLoaderWorker", "_worker_loop", 50, 500));
  bench.save_and_load();
  EXPECT_EQ(bench.text(),
            R"({"annotations":{"columns":["framework_metric","process","step","start_time_us",)"
            R"("duration_us","count"],"rows":[["_worker_loop","DataLoaderWorker",-1,50,500,1],)"
            R"(["model","Forward",1,100,15,2],["model","Forward",2,300,7,1]]},"left_out":0})");
}

TEST(TimeAnnotations, WhatIsTooMuchIsCounted) {
  AnalysisBench bench("time_annotations");
  for (int i = 0; i < 65536 + 10; ++i) bench.step(i, 1, i);
  EXPECT_TRUE(has(bench.text(), R"("left_out":10})"));
  bench.step(0, 1, 5);  // a row that is there
  EXPECT_TRUE(has(bench.text(), R"("left_out":10})"));
}

}  // namespace trainwatch::time_annotations_test

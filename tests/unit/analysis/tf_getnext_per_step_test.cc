// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::tf_getnext_per_step_test {

Span call(AnalysisBench& bench, std::int64_t start, std::int64_t duration, std::int64_t thread,
          std::string_view name = "dataset::GetNext") {
  Span made = bench.span("DataIterator", name, start, duration);
  made.kind = SpanKind::data_wait;
  made.thread = thread;
  return made;
}

TEST(TfGetnextPerStep, ThreadsCallsAndTheirMean) {
  AnalysisBench bench("tf_getnext_per_step");
  bench.add(call(bench, 100, 10, 7));  // before its step comes
  bench.add(call(bench, 120, 20, 8));
  bench.add(call(bench, 99, 5, 9));  // in none
  bench.save_and_load();
  bench.step(100, 50, 3);
  bench.add(call(bench, 150, 30, 7));  // and after
  bench.add(call(bench, 110, 4, 6, "IteratorGetNextOp::DoCompute"));
  bench.save_and_load();
  EXPECT_TRUE(has(bench.text(), R"("rows":[[3,100,50,2,3,20,1,4,"algo-1-0"]])")) << bench.text();
}

TEST(TfGetnextPerStep, FilesThatNameNoThreadsLeaveTheWorkersOpen) {
  AnalysisBench bench("tf_getnext_per_step");
  bench.step(100, 50, 0);
  bench.step(200, 50, 1);
  bench.step(300, 50, 2, "Step:ModeKeys.EVAL");
  bench.add(call(bench, 110, 4, kNoThread));
  EXPECT_TRUE(has(bench.text(), R"("rows":[[0,100,50,null,1,4,0,null,"algo-1-0"],)"
                                R"([1,200,50,0,0,null,0,null,"algo-1-0"]])"))
      << bench.text();
}

TEST(TfGetnextPerStep, PyTorchsCallsAreNotTensorFlows) {
  AnalysisBench bench("tf_getnext_per_step");
  bench.step(100, 50, 0);
  bench.add(call(bench, 110, 4, 1, "_MultiProcessingDataLoaderIter::GetNext"));
  EXPECT_TRUE(has(bench.text(), "[0,100,50,0,0,null,0,null,")) << bench.text();
}

TEST(TfGetnextPerStep, TheLastStepsInWhateverOrderTheyCome) {
  AnalysisBench straight("tf_getnext_per_step");
  AnalysisBench calls_first("tf_getnext_per_step");
  for (std::int64_t i = 0; i < 1001; ++i) {
    straight.step(100 * i, 50, i);
    straight.add(call(straight, 100 * i + 10, i, i % 5));
  }
  for (std::int64_t i = 0; i < 1001; ++i) {
    calls_first.add(call(calls_first, 100 * i + 10, i, i % 5));
  }
  for (std::int64_t i = 0; i < 1001; ++i) calls_first.step(100 * i, 50, i);
  EXPECT_EQ(straight.text(), calls_first.text());
  EXPECT_TRUE(has(straight.text(), R"("rows":[[1,100,50,1,1,1,0,null,"algo-1-0"],)"));
}

}  // namespace trainwatch::tf_getnext_per_step_test

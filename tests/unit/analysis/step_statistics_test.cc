// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::step_statistics_test {

TEST(StepStatistics, APartOfAStepLastsFromItsFirstStartToItsLastEnd) {
  AnalysisBench bench("step_statistics");
  bench.add(bench.span("Forward", "conv", 100, 10, 0));
  bench.add(bench.span("Forward", "conv", 150, 20, 0));
  bench.step(90, 100, 0);
  EXPECT_TRUE(has(bench.text(), R"(["conv",70,70,70,70,70,70,1])")) << bench.text();
  EXPECT_TRUE(has(bench.text(), R"(["Forward",70,70,70,70,70,70,1])")) << bench.text();
}

TEST(StepStatistics, ASpanWithoutAStepBelongsToTheStepItLiesIn) {
  AnalysisBench bench("step_statistics");
  bench.add(bench.span("DataLoaderIter", "GetNext", 110, 10));  // before its step comes
  bench.step(100, 100, 0);
  bench.add(bench.span("DataLoaderWorker", "loop", 120, 30));   // and after
  bench.add(bench.span("DataLoaderIter", "GetNext", 195, 10));  // in none
  EXPECT_TRUE(has(bench.text(), R"(["GetNext",10,10,10,10,10,10,1])")) << bench.text();
  EXPECT_TRUE(has(bench.text(), R"(["loop",30,30,30,30,30,30,1])")) << bench.text();
}

TEST(StepStatistics, StepsOfTwoModesWithOneNumberAreTwoSteps) {
  AnalysisBench bench("step_statistics");
  bench.add(bench.span("Forward", "conv", 100, 10, 3));
  bench.step(100, 50, 3);
  bench.add(bench.span("Forward", "conv", 900, 10, 3));
  bench.step(900, 50, 3, "Step:ModeKeys.EVAL");
  EXPECT_TRUE(has(bench.text(), R"(["conv",10,10,10,10,10,10,2])")) << bench.text();
}

TEST(StepStatistics, AMetricIsCalledAsItsArgumentsCallIt) {
  AnalysisBench bench("step_statistics");
  Span conv = bench.span("Forward", "op", 100, 10, 0);
  conv.layer = bench.symbol("conv1");
  bench.add(conv);
  EXPECT_FALSE(has(bench.text(), "conv1")) << "its step is not known yet";
  bench.step(90, 100, 0);
  EXPECT_TRUE(has(bench.text(), R"(["conv1",10,10,10,10,10,10,1])")) << bench.text();
  EXPECT_FALSE(has(bench.text(), R"(["op",)")) << bench.text();
}

TEST(StepStatistics, RanksDoNotMix) {
  AnalysisBench bench("step_statistics");
  for (const std::int32_t rank : {0, 1}) {
    Span step = bench.span("Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", 1000 * rank, 100, 0);
    step.subject = bench.rank("algo-1", rank);
    bench.add(step);
  }
  EXPECT_TRUE(has(bench.text(), R"(["Step:ModeKeys.TRAIN",100,100,100,100,100,100,2])"))
      << bench.text();
}

TEST(StepStatistics, StateSurvivesInTheMiddleOfAStep) {
  AnalysisBench straight("step_statistics");
  AnalysisBench resumed("step_statistics");
  for (std::int64_t i = 0; i < 40; ++i) {
    for (AnalysisBench* bench : {&straight, &resumed}) {
      bench->add(bench->span("DataLoaderIter", "GetNext", 200 * i + 10, 10 + i));
      bench->add(bench->span("Forward", "conv", 200 * i + 20, 50, i));
    }
    resumed.save_and_load();
    for (AnalysisBench* bench : {&straight, &resumed}) bench->step(200 * i, 150, i);
  }
  EXPECT_EQ(straight.text(), resumed.text());
  const std::string state = straight.save();
  for (std::size_t size = 0; size < state.size(); size += 7) {
    EXPECT_FALSE(straight.loads(std::string_view(state).substr(0, size)));
  }
}

}  // namespace trainwatch::step_statistics_test

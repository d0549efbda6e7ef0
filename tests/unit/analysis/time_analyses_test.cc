// SPDX-License-Identifier: Apache-2.0
// training_phase_intervals, metrics_histogram, step_histogram, step_timeline and heatmap.
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::time_analyses_test {

TEST(TrainingPhaseIntervals, EveryStepOfOnePhase) {
  AnalysisBench bench("training_phase_intervals");
  bench.sample("cpu", "cpu0", "CPUUtilization", 50, 1);
  bench.step(100, 10, 0);
  bench.save_and_load();
  bench.step(120, 10, 1);
  bench.sample("cpu", "cpu0", "CPUUtilization", 200, 1);
  EXPECT_TRUE(has(bench.text(),
                  R"("rows":[[50,99,"Before Step:ModeKeys.TRAIN","algo-1-0"],)"
                  R"([100,110,"Step:ModeKeys.TRAIN","algo-1-0"],)"
                  R"([111,119,"Between Step:ModeKeys.TRAIN and Step:ModeKeys.TRAIN","algo-1-0"],)"
                  R"([120,130,"Step:ModeKeys.TRAIN","algo-1-0"],)"
                  R"([131,200,"After Step:ModeKeys.TRAIN","algo-1-0"]])"))
      << bench.text();
}

TEST(TrainingPhaseIntervals, RunsOfSeveralPhases) {
  AnalysisBench bench("training_phase_intervals");
  for (std::int64_t i = 0; i < 3; ++i) bench.step(100 * i, 50, i);
  bench.save_and_load();
  for (std::int64_t i = 3; i < 5; ++i) bench.step(100 * i, 50, i, "Step:ModeKeys.EVAL");
  EXPECT_TRUE(has(bench.text(),
                  R"("rows":[[0,250,"Step:ModeKeys.TRAIN","algo-1-0"],)"
                  R"([251,299,"Between Step:ModeKeys.EVAL and Step:ModeKeys.TRAIN","algo-1-0"],)"
                  R"([300,450,"Step:ModeKeys.EVAL","algo-1-0"]])"))
      << bench.text();
}

TEST(TrainingPhaseIntervals, AWindowDoesNotSayWhatCameBefore) {
  AnalysisBench bench("training_phase_intervals");
  bench.sample("cpu", "cpu0", "CPUUtilization", 0, 1);
  for (std::int64_t i = 1; i <= 1001; ++i) bench.step(100 * i, 50, i);
  EXPECT_FALSE(has(bench.text(), "Before")) << "the first step is no longer known";
  EXPECT_TRUE(has(bench.text(), "[100100,100150,"));
}

TEST(MetricsHistogram, EveryValueUpToAHundredIsCounted) {
  AnalysisBench bench("metrics_histogram");
  for (const double value : {0.0, 1.9, 2.0, 97.9, 98.0, 100.0, 100.1, -1.0}) {
    bench.sample("gpu", "gpu0", "GPUUtilization", 0, value);
  }
  std::string counts = R"("gpu0":[2,1)";
  for (int i = 2; i < 48; ++i) counts += ",0";
  EXPECT_TRUE(has(bench.text(), counts + ",1,2]")) << bench.text();
}

TEST(MetricsHistogram, TheTotalIsTheMeanOfTheDevicesAtATime) {
  AnalysisBench bench("metrics_histogram");
  bench.sample("cpu", "cpu0", "CPUUtilization", 0, 0);
  bench.save_and_load();
  bench.sample("cpu", "cpu1", "CPUUtilization", 0, 4);
  bench.sample("cpu", "cpu0", "CPUUtilization", 1, 0);
  bench.save_and_load();
  EXPECT_TRUE(has(bench.text(), R"("total":[1,1,0)")) << bench.text();
}

TEST(StepHistogram, NoStepIsLeftOut) {
  AnalysisBench bench("step_histogram");
  for (std::int64_t i = 0; i < 10; ++i) bench.step(100 * i, 10 + i, i);
  bench.save_and_load();
  EXPECT_TRUE(has(bench.text(), R"("n":10)"));
  EXPECT_TRUE(has(bench.text(), R"("bin_edges_us":[10,)")) << bench.text();
}

TEST(StepHistogram, StepsOfOneLengthHaveNoBins) {
  AnalysisBench bench("step_histogram");
  for (std::int64_t i = 0; i < 10; ++i) bench.step(100 * i, 10, i);
  EXPECT_TRUE(has(bench.text(), R"("n":10,"counts":[],"bin_edges_us":[])")) << bench.text();
}

TEST(StepTimeline, TheLastStepsInTheirOrder) {
  AnalysisBench bench("step_timeline");
  for (std::int64_t i = 0; i < 1001; ++i) bench.step(100 * i, 10, i);
  bench.save_and_load();
  EXPECT_FALSE(has(bench.text(), R"([0,10,0,)"));
  EXPECT_TRUE(has(bench.text(), R"("rows":[[100,10,1,"Step:ModeKeys.TRAIN","algo-1-0"])"));
  EXPECT_TRUE(has(bench.text(), R"([100000,10,1000,)"));
}

TEST(Heatmap, ColumnsHalveWhenThereAreTooMany) {
  AnalysisBench bench("heatmap");
  for (int i = 0; i < 600; ++i) {
    bench.sample("gpu", "gpu0", "GPUUtilization", i, i);
    if (i % 50 == 0) bench.save_and_load();
  }
  // 0..3 make the first column, 596..599 the last.
  EXPECT_TRUE(has(bench.text(), R"("width":150,"samples_per_column":4)")) << bench.text();
  EXPECT_TRUE(has(bench.text(), R"("system_metric":"gpu0","values":[1.5,5.5,9.5,)"));
  EXPECT_TRUE(has(bench.text(), ",597.5]"));
  EXPECT_FALSE(has(bench.text(), "null"));
}

}  // namespace trainwatch::time_analyses_test

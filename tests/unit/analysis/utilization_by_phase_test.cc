// SPDX-License-Identifier: Apache-2.0
// utilization_stats, by training phase.
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::utilization_by_phase_test {

constexpr std::int64_t kSecond = 1'000'000;

// What stands in the table of phases.
std::string by_phase(const AnalysisBench& bench) {
  const std::string text = bench.text();
  const std::size_t begin = text.find(R"("by_phase")");
  return text.substr(begin, text.find(R"("by_dimension")") - begin);
}

void cpu(AnalysisBench& bench, std::int64_t at, double value) {
  bench.sample("cpu", "cpu0", "CPUUtilization", at, value);
}

TEST(UtilizationByPhase, BothEndsOfAStepBelongToIt) {
  AnalysisBench bench("utilization_stats");
  for (const std::int64_t at : {99, 100, 150, 151, 199, 200, 250, 251}) {
    cpu(bench, at, static_cast<double>(at));
    bench.save_and_load();
  }
  bench.step(100, 50, 0);
  bench.save_and_load();
  bench.step(200, 50, 1);
  const std::string text = by_phase(bench);
  EXPECT_TRUE(has(text, R"(["cpu","After Step:ModeKeys.TRAIN","algo-1",251,)")) << text;
  EXPECT_TRUE(has(text, R"(["cpu","Before Step:ModeKeys.TRAIN","algo-1",99,)")) << text;
  EXPECT_TRUE(has(text, R"("Between Step:ModeKeys.TRAIN and Step:ModeKeys.TRAIN","algo-1",175,)"));
  EXPECT_TRUE(has(text, R"(["cpu","Step:ModeKeys.TRAIN","algo-1",175,100,250,)")) << text;
}

TEST(UtilizationByPhase, WithSeveralPhasesTheStepsOfOneAreARun) {
  AnalysisBench bench("utilization_stats");
  for (std::int64_t i = 0; i < 4; ++i) {
    bench.step(100 * i, 50, i, i < 2 ? "Step:ModeKeys.TRAIN" : "Step:ModeKeys.EVAL");
  }
  for (const std::int64_t at : {75, 175, 275}) cpu(bench, at, static_cast<double>(at));
  const std::string text = by_phase(bench);
  EXPECT_TRUE(has(text, R"(["cpu","Step:ModeKeys.TRAIN","algo-1",75,)")) << text;
  EXPECT_TRUE(has(text, R"("Between Step:ModeKeys.EVAL and Step:ModeKeys.TRAIN","algo-1",175,)"));
  EXPECT_TRUE(has(text, R"(["cpu","Step:ModeKeys.EVAL","algo-1",275,)")) << text;
}

TEST(UtilizationByPhase, TheLowestRankSaysThePhases) {
  AnalysisBench bench("utilization_stats");
  cpu(bench, 125, 1);
  for (const std::int32_t rank : {1, 0, 2}) {
    Span step = bench.span("Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN", 100 - rank * 90, 50, 0);
    step.subject = bench.rank("algo-1", rank);
    bench.add(step);
  }
  EXPECT_TRUE(has(by_phase(bench), R"(["cpu","Step:ModeKeys.TRAIN","algo-1",1,)"));
}

// Steps and samples of ten minutes; which comes first makes no difference.
void play(AnalysisBench& bench, bool steps, std::int64_t from, std::int64_t to) {
  for (std::int64_t second = from; second < to; ++second) {
    if (steps) {
      const bool eval = second % 100 > 80;
      bench.step(second * kSecond, kSecond / 2, second,
                 eval ? "Step:ModeKeys.EVAL" : "Step:ModeKeys.TRAIN");
    } else {
      cpu(bench, second * kSecond + 100, static_cast<double>(second % 7));
      cpu(bench, second * kSecond + kSecond * 3 / 4, static_cast<double>(second % 11));
    }
  }
}

TEST(UtilizationByPhase, DoesNotDependOnWhatIsReadFirst) {
  AnalysisBench together("utilization_stats");
  for (std::int64_t second = 0; second < 600; ++second) {
    play(together, true, second, second + 1);
    play(together, false, second, second + 1);
    if (second % 50 == 0) together.save_and_load();
  }
  for (const bool first : {true, false}) {
    AnalysisBench apart("utilization_stats");
    play(apart, first, 0, 600);
    apart.save_and_load();
    play(apart, !first, 0, 600);
    EXPECT_EQ(apart.text(), together.text()) << "steps first: " << first;
  }
  EXPECT_TRUE(has(together.text(), R"("left_out_of_phases":0)"));
}

TEST(UtilizationByPhase, ALongPauseIsBetweenItsSteps) {
  AnalysisBench bench("utilization_stats");
  constexpr std::int64_t kMany = 70'000;  // more than may wait
  for (std::int64_t i = 0; i < kMany; ++i) cpu(bench, i, 1);
  bench.step(kMany, 10, 0);
  for (std::int64_t i = 0; i < kMany; ++i) cpu(bench, kMany + 11 + i, 2);
  bench.save_and_load();
  EXPECT_TRUE(has(by_phase(bench), R"("After Step:ModeKeys.TRAIN","algo-1",2,2,2,2,2,2,70000])"));
  bench.step(3 * kMany, 10, 1);
  const std::string text = by_phase(bench);
  EXPECT_TRUE(has(text, R"("Before Step:ModeKeys.TRAIN","algo-1",1,1,1,1,1,1,70000])")) << text;
  EXPECT_TRUE(has(text, R"(Step:ModeKeys.TRAIN","algo-1",2,2,2,2,2,2,70000])")) << text;
  EXPECT_FALSE(has(text, "After"));
  EXPECT_TRUE(has(bench.text(), R"("left_out_of_phases":0)"));
}

TEST(UtilizationByPhase, AStateThatIsCutShortIsRefused) {
  AnalysisBench bench("utilization_stats");
  play(bench, true, 0, 100);
  play(bench, false, 0, 100);
  const std::string state = bench.save();
  EXPECT_TRUE(bench.loads(state));
  for (std::size_t size = 0; size < state.size(); size += 13) {
    EXPECT_FALSE(bench.loads(std::string_view(state).substr(0, size))) << size;
  }
}

TEST(UtilizationByPhase, WhatCannotBeKnownAnyLongerIsCounted) {
  AnalysisBench bench("utilization_stats");
  for (std::int64_t i = 0; i < 5000; ++i) bench.step(100 * i, 50, i);
  cpu(bench, 20, 1);
  for (std::int64_t i = 0; i < 70; ++i) cpu(bench, 499'000 + i * kSecond, 1);
  EXPECT_TRUE(has(bench.text(), R"("left_out_of_phases":1)")) << bench.text();
}

}  // namespace trainwatch::utilization_by_phase_test

// SPDX-License-Identifier: Apache-2.0
// The language of rule cases itself: headings, ranks, what is matched, and what errors and failures
// say.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/case.h"
#include "rules/case_driver.h"
#include "rules/case_file.h"
#include "rules/expectation_check.h"

namespace trainwatch::cases {
namespace {

Case parsed(std::string_view rule, const std::string& text) {
  Result<Case> made = parse_case(rule, text);
  if (!made.ok()) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

std::string error(std::string_view rule, std::string_view text) {
  const Result<Case> made = parse_case(rule, text);
  return made.ok() ? "" : made.error().message;
}

// What is wrong with the last expectation of the case, without the alerts.
std::string failure(std::string_view rule, const std::string& text) {
  const Case made = parsed(rule, text);
  const std::string all = unmet(made.expectations.back(), made, run_straight(made));
  return all.substr(0, all.find("\nalerts:"));
}

// The cycles of the case: "rank start_second exposed_percent, ...".
std::string cycles(const Case& made) {
  std::string text;
  const std::int64_t origin = made.cycles.front()->steps.front().start_ns;
  for (const auto& cycle : made.cycles) {
    const StepSummary& step = cycle->steps.front();
    text += (text.empty() ? "" : ", ") +
            std::to_string(made.interner.subjects[cycle->subject].rank) + " " +
            std::to_string((step.start_ns - origin) / 1'000'000'000) + " " +
            std::to_string(step.exposed_communication_ns * 100 / step.duration_ns);
  }
  return text;
}

constexpr std::string_view kSpike = "steps 0..99 0.2\nsteps 100 3.2\n";

std::string spike(const std::string& expected) {
  return failure("step_spike", std::string(kSpike) + expected + "\n");
}

TEST(CaseLanguage, AHeadingStartsACase) {
  const auto cases = split_cases("# of the rule\n\n== firing\n# why\nset a 1\n\n== quiet_more\n");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].name, "firing");
  EXPECT_EQ(cases[0].line, 3);
  EXPECT_EQ(cases[0].text, "# why\nset a 1\n\n");
  EXPECT_EQ(cases[1].name, "quiet_more");
  EXPECT_EQ(cases[1].line, 7);
  EXPECT_EQ(cases[1].text, "");
}

TEST(CaseLanguage, LinesAboveTheFirstHeadingAreNotLost) {
  const auto cases = split_cases("# comment\nset a 1\n== firing\n");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].name, "");
  EXPECT_EQ(cases[0].text, "set a 1\n");
}

TEST(CaseLanguage, ErrorsNameTheLine) {
  EXPECT_EQ(error("nothing", ""), "1: no rule 'nothing'");
  EXPECT_EQ(error("step_spike", "\nset ratio 0\n"), "2: ratio: 0 is outside 1..100");
  EXPECT_EQ(error("step_spike", "steps 0..9 0.2 weight 3\n"), "1: cannot read 'weight 3'");
  EXPECT_EQ(error("step_spike", "stops 0..9 0.2\n"), "1: cannot read 'stops'");
  EXPECT_EQ(error("step_spike", "ticks 10 cpu0=1*x\n"), "1: cannot read 'cpu0=1*x'");
  EXPECT_EQ(error("all_zero", "tensor w 0..9 1,x\n"),
            "1: tensor NAME A..B V,V*N,...|normal(SEED,N,MEAN,DEV) [options]");
  EXPECT_EQ(error("all_zero", "tensor w 0..9 1 mode fast\n"), "1: cannot read 'mode fast'");
  EXPECT_EQ(error("all_zero", "set tensor_regex (\n"),
            "1: tensor_regex: '(' is no regular expression: missing ): (");
  EXPECT_EQ(error("step_spike", "expect at step 3 loudly\n"), "1: cannot read 'loudly'");
  EXPECT_EQ(error("gpu_idle", "cycle 0..9 0.2 wait\n"), "1: cannot read 'wait '");
  EXPECT_EQ(error("gpu_idle", "cycle 0..9 0.2 wait 60 launch 50\n"),
            "1: the parts of a step are more than 100 percent");
  EXPECT_EQ(error("gpu_idle", "ranks 3..0\n"), "1: rank N, or ranks A..B");
  EXPECT_EQ(error("gpu_idle", "ranks 0..3\ncycle 0..9 0.2 but rank 4 wait 1\n"),
            "2: rank 4 is none of the current ranks");
  EXPECT_EQ(error("gpu_idle", "cycle 0..9 0.2 but wait 1\n"), "1: ... but rank N OPTIONS");
  EXPECT_EQ(error("step_spike", "steps 0..9 0.2\n"), "1: nothing is expected");
  const Result<Case> below = parse_case("step_spike", "stops\n", 40);
  ASSERT_FALSE(below.ok());
  EXPECT_EQ(below.error().message, "40: cannot read 'stops'");
}

TEST(CaseLanguage, RanksRunSideBySide) {
  const Case made = parsed("straggler",
                           "ranks 0..2\n"
                           "cycle 0..9 0.1 exposed 30 but rank 1 exposed 2\n"
                           "cycle 10..19 0.1 exposed 40 stall 10:2 but rank 2 exposed 0\n"
                           "rank 7\n"
                           "cycle 0..9 0.1\n"
                           "expect nothing\n");
  EXPECT_EQ(cycles(made), "0 0 30, 1 0 2, 2 0 30, 0 1 1, 1 1 1, 2 1 0, 7 4 0");
}

TEST(CaseLanguage, ATensorHasItsElementsAndTheirStatistics) {
  const Case made = parsed("all_zero",
                           "tensor w 2..3 1..2,-3,0*2,nan,inf mode eval in weights,mine shape 2x3 "
                           "stride 10\n"
                           "tensor big 0 normal(1,5000,2,0.5) elements no\n"
                           "expect nothing\n");
  ASSERT_EQ(made.tensors.size(), 3U);
  const Tensor& last = made.tensors[1]->tensor;
  EXPECT_EQ(last.step, 30);
  EXPECT_EQ(last.mode, Mode::eval);
  EXPECT_EQ(made.interner.symbols.text(last.collections[1]), "mine");
  EXPECT_EQ(last.shape.size(), 2U);
  EXPECT_EQ(last.values[0], 2);
  EXPECT_EQ(last.statistics.count, 6U);
  EXPECT_EQ(last.statistics.nans, 1U);
  EXPECT_EQ(last.statistics.infinities, 1U);
  EXPECT_EQ(last.statistics.zeros, 2U);
  EXPECT_EQ(last.statistics.min, -3);
  EXPECT_EQ(last.statistics.max, 2);
  EXPECT_EQ(last.statistics.mean, -0.25);
  EXPECT_EQ(last.statistics.abs_mean, 1.25);
  EXPECT_EQ(last.statistics.variance, 3.1875);  // numpy.var([2, -3, 0, 0])
  const Tensor& big = made.tensors[2]->tensor;
  EXPECT_TRUE(big.values.empty());
  EXPECT_EQ(big.sample.size(), Tensor::kMostSamples);
  EXPECT_NEAR(big.statistics.mean, 2, 0.05);
  EXPECT_NEAR(big.statistics.variance, 0.25, 0.02);
}

TEST(CaseLanguage, AValueIsFoundByItsPath) {
  EXPECT_EQ(spike("expect at step 100 firing warning step=100 subject.rank=0 value=3.20 "
                  "evidence.pattern=single cause.name=unattributed ended_at=null"),
            "");
  EXPECT_EQ(spike("expect last evidence.pattern=periodic"),
            "wanted: expect last evidence.pattern=periodic\nbut:    evidence.pattern is single");
  EXPECT_EQ(spike("expect at step 100 value=3"),
            "wanted: expect at step 100 value=3\nbut:    value is 3.2");
  EXPECT_EQ(spike("expect last pattern=single unit=ratio"),
            "wanted: expect last pattern=single unit=ratio\n"
            "but:    the alert has no pattern, unit is seconds");
  EXPECT_EQ(spike("expect at step 100 resolved"),
            "wanted: expect at step 100 resolved\nbut:    state is firing");
}

// "expect resolved" is about alerts that there were.
TEST(CaseLanguage, WithoutAnAlertAFailureSaysWhyTheRuleWasSilent) {
  const std::string steps = "steps 0..99 0.2\n";
  const std::string silent = "\nbut:    the rule gave no verdict: ";
  for (const std::string expected :
       {"expect resolved", "expect at step 9 firing", "expect last firing", "expect alerts 1"}) {
    EXPECT_EQ(failure("step_spike", steps + expected + "\n"),
              "wanted: " + expected + silent + "it found nothing in 100 evaluations");
  }
  EXPECT_EQ(failure("step_spike", "steps 0..2 0.2\nexpect resolved\n"),
            "wanted: expect resolved" + silent + "it is still warming up");
  EXPECT_EQ(failure("step_spike", "clock 9\nexpect resolved\n"),
            "wanted: expect resolved" + silent + "no event reached it");
  EXPECT_EQ(failure("gpu_idle", "cycle 0..9 0.1 wait 50 nowork\nexpect resolved\n"),
            "wanted: expect resolved" + silent + "it abstains, missing is 'gpu activity'");
  EXPECT_EQ(failure("step_spike", steps + "expect alerts 0\n"), "");
  EXPECT_EQ(spike("expect resolved").find("wanted: expect resolved\nbut:    "), 0U);
}

TEST(CaseLanguage, AFailureSaysWhatCame) {
  EXPECT_EQ(spike("expect at step 99 firing"),
            "wanted: expect at step 99 firing\nbut:    no alert was emitted at step 99");
  EXPECT_EQ(spike("expect nothing at warning"),
            "wanted: expect nothing at warning\nbut:    an alert of severity warning");
  EXPECT_EQ(spike("expect nothing at critical"), "");
  EXPECT_EQ(spike("expect alerts 2"), "wanted: expect alerts 2\nbut:    the number of alerts is 1");
  EXPECT_EQ(spike("expect missing steps"),
            "wanted: expect missing steps\nbut:    nothing is missing");
  const Case made = parsed("step_spike", std::string(kSpike) + "expect nothing\n");
  const std::string all = unmet(made.expectations[0], made, run_straight(made));
  EXPECT_NE(all.find("\nalerts:\n  at step 100: {\"id\":\""), std::string::npos) << all;
}

}  // namespace
}  // namespace trainwatch::cases

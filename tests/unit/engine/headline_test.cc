// SPDX-License-Identifier: Apache-2.0
// The sentence of every state and every cause.
#include <gmock/gmock.h>

#include "pipeline/engine/cause_words.h"
#include "tests/unit/engine/headline_fixture.h"

namespace trainwatch::headline_test {

using namespace headline_fixture;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

class HeadlineTest : public HeadlineFixture {};

TEST_F(HeadlineTest, SlowSaysSinceWhenWhyWhereAndWhatItCosts) {
  Alert slow = alert(CauseName::input_wait, 0.31 * 38 * 60);
  slow.ranks = "0-7";
  fires(slow, kInputBound);
  EXPECT_EQ(text(),
            "Slow: since {since} ({for}) every step waits for data on ranks 0-7: 31 % of the time "
            "is lost, 94 GPU minutes so far; 4.2 steps/s.");
  EXPECT_EQ(since(), now_ - minutes(38));
}

// Whatever the rule has measured: what the alert is about, the account has for all ranks.
TEST_F(HeadlineTest, ItCostsWhatTheAccountHas) {
  Alert slow = alert(CauseName::gpu_slowdown, 60);
  fires(slow, kRegression);
  RunAlerts alerts = with_account();
  alerts.firing[0].lost = 8 * 60;
  EXPECT_THAT(headline(run_, alerts, now_).text,
              HasSubstr("on rank 3: 21 % of the time is lost, 64 GPU minutes so far"));
  alerts.firing[0].lost = 0;
  EXPECT_THAT(headline(run_, alerts, now_).text, HasSubstr(" on rank 3; 4.2 steps/s"));
}

TEST_F(HeadlineTest, EveryCauseHasPlainWords) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(CauseName::collective_hang); ++i) {
    const auto cause = static_cast<CauseName>(i);
    const CauseWords& words = words_of(cause);
    SCOPED_TRACE(to_string(cause));
    given_ = {};
    run_.life.state = LifeState::slow;
    Alert slow = alert(cause, 60);
    fires(slow, kRegression);
    const bool known = cause != CauseName::unattributed;
    EXPECT_THAT(text(), HasSubstr("since {since} ({for}) " +
                                  (known ? std::string(words.lasting)
                                         : "training has become slower and stays so") +
                                  " on rank 3"));
    EXPECT_EQ(text().find("not known") == std::string::npos, known);
    EXPECT_EQ(
        text().find(to_string(cause).find('_') == std::string_view::npos ? "\t" : to_string(cause)),
        std::string::npos)
        << "no identifiers";
    run_.life.state = LifeState::finished;
    const LifePart part = part_of(cause);
    if (!is_lost(part)) continue;
    run_.life.parts = {};
    run_.life.parts[part] = 40;
    EXPECT_THAT(text(), HasSubstr("4 % was lost, mostly " + std::string(spent_words(part))));
  }
}

TEST_F(HeadlineTest, WhatIsMissingIsNamed) {
  Alert slow = alert(CauseName::unattributed, 60);
  slow.verdict.cause.missing = {"gpu samples", "waits for data"};
  fires(slow, kRegression);
  EXPECT_THAT(text(), HasSubstr("on rank 3, and the cause is not known (missing: gpu samples, "
                                "waits for data): 3 %"));
}

TEST_F(HeadlineTest, OneSlowStepIsAMoment) {
  Alert spike = alert(CauseName::input_wait, 3.4);
  spike.verdict.since = spike.verdict.window_start = now_ - seconds(12);
  spike.ranks = "0-1";
  fires(spike, kSpike);
  EXPECT_EQ(text(),
            "Slow: at {since} ({for} ago) a step waited for data on ranks 0-1: 27 GPU seconds "
            "lost; 4.2 steps/s.");
  spike.verdict.since = now_ - minutes(20);
  EXPECT_THAT(text(),
              StartsWith("Slow: since {since} ({for}) some steps wait for data on ranks 0-1"))
      << "a rhythm";
}

TEST_F(HeadlineTest, PlacesOfNodesGpusAndJobs) {
  Alert slow = alert(CauseName::cpu_saturation, 0);
  slow.subject = {"bert", "algo-1", kNoRank, ""};
  fires(slow, kCpu);
  EXPECT_THAT(text(), HasSubstr("a CPU core is saturated on node algo-1 (ranks 0-7); 4.2"));
  given_ = {};
  Alert gpu = alert(CauseName::unattributed, 0);
  gpu.subject = {"bert", "algo-1", kNoRank, "2"};
  fires(gpu, kLowGpu);
  EXPECT_THAT(text(), HasSubstr("a GPU is never fully used, or alternates between busy and idle on "
                                "GPU 2 of algo-1 (ranks 0-7), and the cause is not known;"));
  given_ = {};
  Alert straggler = alert(CauseName::straggler, 60);
  fires(straggler, kStraggler);
  EXPECT_THAT(text(), HasSubstr("the other ranks wait for rank 3: 3 % of the time is lost, 8.0 GPU "
                                "minutes so far"));
  given_ = {};
  Alert process = alert(CauseName::input_wait, 60);
  process.subject = {"bert", "box", kNoRank, "", 4711};
  fires(process, kInputBound);
  EXPECT_THAT(text(), HasSubstr("every step waits for data on box:4711: "));
}

TEST_F(HeadlineTest, Stalled) {
  run_.life.state = LifeState::stalled;
  Alert stall = alert(CauseName::unattributed, 10);
  stall.verdict.cause.missing = {"gpu samples"};
  Alert slow = alert(CauseName::input_wait, 10'000);
  fires(slow, kInputBound);
  fires(stall, kStall);
  EXPECT_EQ(text(),
            "Stalled: rank 3 has ended no step since {since} ({for}); the last one was step "
            "12,345, and the cause is not known (missing: gpu samples); 7.3 GPU hours lost so "
            "far; and 1 more alert.");
  stall.ranks = "0-1";
  stall.verdict.cause.name = CauseName::input_wait;
  EXPECT_THAT(text(), StartsWith("Stalled: ranks 0-1 have ended no step since {since} ({for}); the "
                                 "last one was step 12,345; they are waiting for data; 7.3 GPU"));
  given_ = {};
  EXPECT_THAT(text(), StartsWith("Stalled: ranks 0-7 have ended no step")) << "its alert has ended";
  EXPECT_EQ(since(), run_.life.since);
  run_.life.grew = false;
  EXPECT_EQ(text(),
            "Stalled: ranks 0-7 have ended no step since {since} ({for}); the last one was step "
            "12,345; its log has not grown since it was found, so it may be over.");
}

TEST_F(HeadlineTest, Running) {
  run_.life.state = LifeState::running;
  EXPECT_EQ(text(), "Running: 4.2 steps/s, step 12,345; nothing is lost.");
  EXPECT_EQ(since(), kNoTime);
  run_.life.parts[LifePart::input_wait] = 31;
  run_.attempt = 2;
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345 of attempt 2; 3 % was lost, mostly waiting for "
            "data.");
  run_.seconds_per_step = 0;
  run_.life.wall = 0;
  EXPECT_EQ(text(), "Running: step 12,345 of attempt 2; what is lost is not known.");
}

TEST_F(HeadlineTest, RunningWithAWarningThatCostsNothingYet) {
  run_.life.state = LifeState::running;
  Alert creep = alert(CauseName::memory_creep, 0);
  creep.subject = {"bert", "algo-1", kNoRank, "2"};
  Alert other = creep;
  other.id = "other";
  fires(creep, kCreep);
  fires(other, kCreep);
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345; since {since} ({for}) memory fills up on GPU 2 of "
            "algo-1 (ranks 0-7); and 1 more alert.");
}

TEST_F(HeadlineTest, RunningSaysWhatCostsMuchAlthoughNobodyIsWarned) {
  run_.life.state = LifeState::running;
  Alert slow = alert(CauseName::cpu_saturation, 0.36 * 38 * 60);
  given_.info.push_back({&slow, &kRegression});
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345; since {since} ({for}) a CPU core is saturated on "
            "rank 3: 36 % of the time is lost, 109 GPU minutes so far.");
  slow.verdict.lost_seconds = 60;
  EXPECT_EQ(text(), "Running: 4.2 steps/s, step 12,345; nothing is lost.");
}

TEST_F(HeadlineTest, RunningSaysWhatIsJustOver) {
  run_.life.state = LifeState::running;
  Alert spike = alert(CauseName::io_wait, 3.4);
  spike.verdict.since = spike.verdict.window_start = now_ - seconds(60);
  spike.ranks = "0-1";
  is_over(spike, kSpike, now_ - seconds(55));
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345; at {since} ({for} ago) a step waited for storage "
            "on ranks 0-1: 27 GPU seconds lost.");
  Alert before = spike;
  before.id = "before";
  before.verdict.since = before.verdict.window_start = now_ - minutes(8);
  is_over(before, kSpike, now_ - minutes(8));
  Alert other = before;
  other.id = "other";
  other.verdict.cause.name = CauseName::input_wait;
  is_over(other, kSpike, now_ - minutes(8));
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345; 2 times since {since} ({for}) a step waited for "
            "storage on ranks 0-1: 54 GPU seconds lost; and 1 more alert.");
  EXPECT_EQ(since(), now_ - minutes(8));
  given_ = {};
  Alert slow = alert(CauseName::cpu_saturation, 600);
  slow.updated_at = now_ - minutes(8);
  is_over(slow, kRegression, now_ - minutes(8));
  EXPECT_THAT(text(),
              HasSubstr("at {since} ({for} ago) training was slowed by a saturated CPU core "
                        "for 30 min on rank 3: 80 GPU minutes lost."));
  given_ = {};
  Alert stall = alert(CauseName::unattributed, 480);
  stall.updated_at = now_ - minutes(30);
  is_over(stall, kStall, now_ - minutes(30));
  EXPECT_THAT(text(), HasSubstr("training stood still for 8 min on rank 3, and the cause is not "
                                "known: 64 GPU minutes lost."));
}

TEST_F(HeadlineTest, StartingFinishedAndGone) {
  run_.life.state = LifeState::starting;
  run_.life.step = 12;
  EXPECT_EQ(text(), "Starting: since {since} ({for}), step 12; its usual pace is not known yet.");
  run_.life.state = LifeState::finished;
  run_.life.step = 5000;
  run_.life.until = kBegin + minutes(72);
  EXPECT_EQ(
      text(),
      "Finished at step 5,000 after 1 h 12 min (ranks 0-7, until {since}); nothing was lost.");
  run_.life.state = LifeState::gone;
  run_.process_gone = true;
  EXPECT_EQ(
      text(),
      "Gone: nothing has come since {since} ({for}) from ranks 0-7, and the process no longer "
      "exists; the last one was step 5,000; nothing was lost.");
  EXPECT_EQ(since(), run_.life.since);
}

TEST_F(HeadlineTest, FailedAndCancelledSayWhyWhereAndAtWhichStep) {
  run_.life.state = LifeState::failed;
  run_.life.step = 100;
  run_.life.total_steps = 10'000;
  run_.life.end = AttemptEnd{now_, {}};
  run_.life.end->how.what = EndClass::cuda_out_of_memory;
  run_.life.end->how.rank = 3;
  EXPECT_EQ(text(),
            "Failed at step 100 of 10,000 after 1 h (ranks 0-7), {for} ago: CUDA out of memory on "
            "rank 3; nothing was lost.");
  run_.life.end->how.what = EndClass::exception;
  run_.life.end->how.text = "ValueError: bad sample";
  run_.life.step = kNoStep;
  EXPECT_THAT(text(), StartsWith("Failed before the first step after 1 h (ranks 0-7), {for} ago: "
                                 "ValueError on rank 3;"));
  run_.life.state = LifeState::cancelled;
  run_.life.end->how = {};
  run_.life.end->how.what = EndClass::cancelled;
  run_.life.end->how.signal = 15;
  EXPECT_THAT(text(), HasSubstr(" ago: ended by SIGTERM;"));
  run_.life.end->how.signal = 40;
  EXPECT_THAT(text(), HasSubstr(" ago: ended by signal 40;"));
  run_.life.end->how.what = EndClass::time_limit;
  EXPECT_THAT(
      text(),
      StartsWith("Cancelled before the first step after 1 h (ranks 0-7), {for} ago: time limit;"));
}

TEST_F(HeadlineTest, WithoutGpusTimeIsTime) {
  run_.life.state = LifeState::stalled;
  run_.gpus = false;
  EXPECT_THAT(text(), HasSubstr("; 55 min lost so far."));
}

TEST_F(HeadlineTest, ARunThatIsOverSaysThatItsResultIsOfNoUse) {
  const RuleSpec nan = rule("loss_nan", Scope::job, {});
  Alert ruined = alert(CauseName::unattributed, 0);
  ruined.verdict.step = 4200;
  ruined.ended_because = EndedBecause::run_ended;
  ruined.state = Alert::State::resolved;
  is_over(ruined, nan, now_);
  run_.life.state = LifeState::finished;
  EXPECT_THAT(text(), HasSubstr("nothing was lost; at the end its loss was no finite number, since "
                                "step 4,200."));
  run_.life.state = LifeState::gone;
  EXPECT_THAT(text(), HasSubstr("; at the end its loss was no finite number, since step 4,200."));
  ruined.verdict.step = kNoStep;
  EXPECT_THAT(text(), HasSubstr("; at the end its loss was no finite number."));
  ruined.ended_because = EndedBecause::recovered;
  EXPECT_EQ(text().find("finite"), std::string::npos) << "it went on with finite values";
  given_ = {};
  ruined.state = Alert::State::firing;
  fires(ruined, nan);
  EXPECT_THAT(text(), HasSubstr("no finite number.")) << "it fires still";
}

TEST_F(HeadlineTest, ALossThatIsNaNIsSaidWhateverElseThereIs) {
  const RuleSpec nan = rule("loss_nan", Scope::job, {});
  Alert bad = alert(CauseName::unattributed, 0);
  bad.verdict.step = 4200;
  bad.verdict.summary = "The loss is NaN since step 4200 (my.loss); the last finite value was 2.";
  fires(bad, nan);
  run_.life.state = LifeState::running;
  EXPECT_THAT(text(), HasSubstr("; the loss is NaN since step 4200 (my.loss), {for} ago."));
  run_.life.state = LifeState::stalled;
  EXPECT_THAT(text(), HasSubstr("; its loss is no finite number, since step 4,200"));
}

TEST_F(HeadlineTest, AJobWithoutRanksAndSteps) {
  run_ = {};
  EXPECT_THAT(text(), StartsWith("Starting: since {since} ({for}); its"));
  run_.life.state = LifeState::finished;
  EXPECT_EQ(text(), "Finished after 0 s (until {since}); what was lost is not known.");
  run_.life.state = LifeState::stalled;
  EXPECT_EQ(text(), "Stalled: training has ended no step since {since} ({for}); 0 s lost so far.");
  run_.life.state = LifeState::slow;
  EXPECT_EQ(text(), "Slow: since {since} ({for}); what is lost is not known.");
}

}  // namespace trainwatch::headline_test

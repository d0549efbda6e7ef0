// The sentence of every state and every cause.
#include "pipeline/engine/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/cause_words.h"

namespace trainwatch::headline_test {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Time kBegin{seconds(1000)};

RuleSpec rule(std::string_view id, Scope scope, IncidentRole role, std::string_view summary = "") {
  RuleSpec spec;
  spec.id = id;
  spec.scope = scope;
  spec.incident = role;
  spec.summary = summary;
  return spec;
}

const RuleSpec kInputBound = rule("input_bound", Scope::rank, {.specificity = 70});
const RuleSpec kRegression = rule("throughput_regression", Scope::rank, {.specificity = 65},
                                  "Training has become slower and stays so.");
const RuleSpec kSpike = rule("step_spike", Scope::rank, {.specificity = 50, .of_one_step = true});
const RuleSpec kStall = rule("stall", Scope::rank, {.specificity = 90, .of_one_step = true});
const RuleSpec kStraggler = rule("straggler", Scope::job, {.specificity = 75});
const RuleSpec kCpu = rule("cpu_bottleneck", Scope::node, {.specificity = 44},
                           "GPUs are idle while a CPU core is saturated.");
const RuleSpec kLowGpu = rule("low_gpu_utilization", Scope::gpu, {.specificity = 20},
                              "A GPU is never fully used, or alternates between busy and idle.");
const RuleSpec kCreep = rule("memory_creep", Scope::gpu, {});

class HeadlineTest : public testing::Test {
 protected:
  HeadlineTest() {
    run_.state = RunState::slow;
    run_.begin = kBegin;
    run_.last_end = now_;
    run_.since = kBegin + minutes(5);
    run_.step = 12345;
    run_.seconds_per_step = 1 / 4.2;
    run_.rank_count = 8;
    for (std::int32_t rank = 0; rank < 8; ++rank) run_.nodes["algo-1"].insert(rank);
    run_.lost.elapsed = 1000;
  }

  // An alert about rank 3 that has fired for 38 minutes and is as old as that.
  Alert alert(CauseName cause, double lost) {
    Alert made;
    made.id = std::to_string(++alerts_);
    made.subject = {"bert", "algo-1", 3, ""};
    made.started_at = now_ - minutes(38);
    made.updated_at = now_;
    made.verdict.cause.name = cause;
    made.verdict.lost_seconds = lost;
    return made;
  }
  std::string text() const { return headline(run_, given_, now_).text; }
  Time since() const { return headline(run_, given_, now_).since; }
  void fires(const Alert& one, const RuleSpec& spec) { given_.firing.push_back({&one, &spec}); }
  void is_over(Alert& one, const RuleSpec& spec, Time at) {
    one.ended_at = at;
    given_.over.push_back({&one, &spec});
  }

  RunView run_;
  RunAlerts given_;
  Time now_ = kBegin + minutes(60);
  int alerts_ = 0;
};

TEST_F(HeadlineTest, SlowSaysSinceWhenWhyWhereAndWhatItCosts) {
  Alert slow = alert(CauseName::input_wait, 0.31 * 38 * 60);
  slow.ranks = "0-7";
  fires(slow, kInputBound);
  EXPECT_EQ(text(),
            "Slow: since {since} ({for}) every step waits for data on ranks 0-7: 31 % of the time "
            "is lost, 94 GPU minutes so far; 4.2 steps/s.");
  EXPECT_EQ(since(), now_ - minutes(38));
}

TEST_F(HeadlineTest, APercentageIsExtrapolatedAndSaysSo) {
  Alert slow = alert(CauseName::input_wait, 20);
  slow.verdict.unit = "percent";
  slow.verdict.value = 10;
  fires(slow, kInputBound);
  EXPECT_THAT(text(),
              HasSubstr("on rank 3: 10 % of the time is lost, about 3.8 GPU minutes so far"));
  slow.verdict.since = slow.started_at - minutes(2);
  slow.verdict.lost_seconds = 8 * 60;
  EXPECT_THAT(text(), HasSubstr("on rank 3: 20 % of the time is lost, 8.0 GPU minutes so far"))
      << "it is known since when, and all that was lost";
}

TEST_F(HeadlineTest, AFigureThatIsOldIsExtrapolatedAndSaysSo) {
  Alert slow = alert(CauseName::gpu_slowdown, 60);
  slow.updated_at = slow.started_at + minutes(4);
  fires(slow, kRegression);
  EXPECT_THAT(text(), HasSubstr("25 % of the time is lost, about 9.5 GPU minutes so far"));
  slow.updated_at = slow.started_at;
  EXPECT_THAT(text(), HasSubstr("on rank 3: at least 60 GPU seconds lost so far; 4.2"));
}

TEST_F(HeadlineTest, ARuleAboutCyclesKnowsWhatWasRecorded) {
  RuleSpec idle = rule("gpu_idle", Scope::rank, {.specificity = 40});
  idle.interest.cycles = true;
  Alert slow = alert(CauseName::input_wait, 12);
  slow.verdict.unit = "percent";
  slow.verdict.value = 10;
  fires(slow, idle);
  EXPECT_THAT(text(), HasSubstr("on rank 3: 10 % of the recorded time is lost, at least 12 GPU "
                                "seconds so far; "));
  slow.verdict.unit = "seconds";
  EXPECT_THAT(text(), HasSubstr("on rank 3: at least 12 GPU seconds lost so far; "));
}

TEST_F(HeadlineTest, EveryCauseHasPlainWords) {
  for (std::size_t i = 0; i < LostTime::kCauses; ++i) {
    const auto cause = static_cast<CauseName>(i);
    const CauseWords& words = words_of(cause);
    SCOPED_TRACE(to_string(cause));
    given_ = {};
    run_.state = RunState::slow;
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
    run_.state = RunState::finished;
    run_.lost.lost = {};
    run_.lost.add(cause, 40);
    EXPECT_THAT(text(), HasSubstr("4 % was lost, mostly " + std::string(words.spent)));
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
            "Slow: at {since} ({for} ago) a step waited for data on ranks 0-1: 6.8 GPU seconds "
            "lost; 4.2 steps/s.");
  spike.verdict.since = now_ - minutes(20);
  EXPECT_THAT(text(),
              StartsWith("Slow: since {since} ({for}) some steps wait for data on ranks 0-1"))
      << "a rhythm";
}

TEST_F(HeadlineTest, TheMostExpensiveSpeaksAndOthersAreCounted) {
  Alert cheap = alert(CauseName::input_wait, 10);
  Alert dear = alert(CauseName::compute_growth, 600);
  Alert part = alert(CauseName::checkpoint, 900);
  part.incident = dear.id;
  fires(cheap, kInputBound);
  fires(part, kSpike);
  fires(dear, kRegression);
  EXPECT_THAT(text(), HasSubstr("every step computes longer than before on rank 3"));
  EXPECT_THAT(text(), HasSubstr("; and 1 more alert."));
  given_.firing = {{&part, &kSpike}};
  EXPECT_THAT(text(), HasSubstr("a checkpoint held up a step")) << "none speaks";
}

TEST_F(HeadlineTest, WhoIsWaitedForIsNamed) {
  Alert waits = alert(CauseName::communication, 600);
  waits.ranks = "0-3";
  Alert works = alert(CauseName::compute_growth, 500);
  works.incident = waits.id;
  works.subject.rank = 1;
  fires(waits, kRegression);
  fires(works, kRegression);
  EXPECT_THAT(text(), HasSubstr("since {since} ({for}) the other ranks wait for rank 1, which is "
                                "computing longer than before: 26 % of the time is lost, 40 GPU "
                                "minutes so far; 4.2 steps/s."));
  Alert other = works;
  other.subject.rank = 2;
  fires(other, kRegression);
  EXPECT_THAT(text(), HasSubstr("every step waits for communication between ranks on ranks 0-3"))
      << "it is not one";
}

TEST_F(HeadlineTest, WhatStillFiresSpeaksForAnIncidentWhoseVoiceIsOver) {
  std::vector<Alert> parts;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    parts.push_back(alert(CauseName::unattributed, 600));
    parts.back().incident = "a stall that is over";
    parts.back().subject.rank = rank;
  }
  Alert other = alert(CauseName::input_wait, 10);
  for (const Alert& part : parts) fires(part, kRegression);
  fires(other, kInputBound);
  EXPECT_THAT(text(), HasSubstr("training has become slower and stays so on ranks 0-3, and the "
                                "cause is not known: 26 % of the time is lost, 40 GPU minutes"));
  EXPECT_THAT(text(), HasSubstr("; and 1 more alert."));
  parts[2].verdict.cause.name = CauseName::host_pause;
  EXPECT_THAT(text(), HasSubstr("the host holds up every step on ranks 0-3")) << "one knows";
}

TEST_F(HeadlineTest, RanksThatAreDelayedCountWithTheOneThatIsOver) {
  Alert stall = alert(CauseName::unattributed, 1.2);
  stall.subject.rank = 3;
  stall.verdict.since = stall.verdict.window_start = now_ - seconds(2);
  Alert delayed = stall;
  delayed.id = "delayed";
  delayed.subject.rank = 5;
  delayed.incident = stall.incident = stall.id;
  fires(delayed, kSpike);
  is_over(stall, kSpike, now_ - seconds(1));
  EXPECT_THAT(text(), HasSubstr("a step took far longer than the others on ranks 3,5"));
}

TEST_F(HeadlineTest, WhoKnowsWhyOneStepWasSlowSaysIt) {
  run_.state = RunState::running;
  Alert stall = alert(CauseName::unattributed, 35);
  stall.verdict.since = stall.verdict.window_start = now_ - seconds(60);
  stall.ranks = "0-1";
  Alert pause = stall;
  pause.id = "pause";
  pause.incident = stall.incident = stall.id;
  pause.ranks = "";
  pause.verdict.cause.name = CauseName::host_pause;
  is_over(stall, kStall, now_ - seconds(25));
  is_over(pause, kStall, now_ - seconds(25));
  EXPECT_THAT(text(), HasSubstr("training stood still for 35 s, held up by the host on ranks 0-1: "
                                "70 GPU seconds lost."));
}

TEST_F(HeadlineTest, APartThatKnowsWhySaysIt) {
  Alert slower = alert(CauseName::unattributed, 0.6 * 38 * 60);
  slower.ranks = "0-1";
  Alert waits = alert(CauseName::input_wait, 0.5 * 38 * 60);
  waits.incident = slower.id;
  waits.subject.rank = 0;
  Alert also = waits;
  also.id = "also";
  also.subject.rank = 1;
  fires(slower, kRegression);
  fires(waits, kInputBound);
  fires(also, kInputBound);
  EXPECT_THAT(text(), HasSubstr("every step waits for data on ranks 0-1: 60 % of the time is lost, "
                                "46 GPU minutes so far; 4.2"));
  also.incident = "of another incident";
  EXPECT_THAT(text(), HasSubstr("every step waits for data on ranks 0-1: 60 %"))
      << "it opened again, after the incident";
  given_.firing.pop_back();
  EXPECT_THAT(text(),
              HasSubstr("the other ranks wait for rank 0, which is waiting for data: 60 %"));
  slower.ranks = "";
  slower.subject.rank = 0;
  EXPECT_THAT(text(), HasSubstr("every step waits for data on rank 0: 60 %"));
  waits.verdict.lost_seconds = 60;
  EXPECT_THAT(text(), HasSubstr("training has become slower and stays so on rank 0, and the cause "
                                "is not known"))
      << "it explains little";
}

TEST_F(HeadlineTest, WhoAloneKnowsWhyIsWaitedFor) {
  Alert works = alert(CauseName::compute_growth, 600);
  works.ranks = "2-3";
  Alert waits = alert(CauseName::unattributed, 600);
  waits.subject.rank = 2;
  waits.incident = works.id;
  fires(works, kRegression);
  fires(waits, kRegression);
  EXPECT_THAT(text(), HasSubstr("the other ranks wait for rank 3, which is computing longer than "
                                "before: 26 %"));
  works.verdict.cause.name = CauseName::host_pause;
  EXPECT_THAT(text(), HasSubstr("the host holds up every step on ranks 2-3"))
      << "of a rank that waits no phase is long either";
  waits.verdict.cause.name = works.verdict.cause.name = CauseName::compute_growth;
  EXPECT_THAT(text(), HasSubstr("every step computes longer than before on ranks 2-3"));
}

TEST_F(HeadlineTest, WhoIsWaitedForNeedNotBeWarnedOf) {
  Alert slower = alert(CauseName::unattributed, 600);
  slower.ranks = "0-3";
  Alert works = alert(CauseName::compute_growth, 500);
  works.incident = slower.id;
  works.subject.rank = 1;
  fires(slower, kRegression);
  given_.info.push_back({&works, &kRegression});
  EXPECT_THAT(text(), HasSubstr("the other ranks wait for rank 1, which is computing longer than "
                                "before: 26 %"));
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
  run_.state = RunState::stalled;
  Alert stall = alert(CauseName::unattributed, 10);
  stall.verdict.cause.missing = {"gpu samples"};
  Alert slow = alert(CauseName::input_wait, 10'000);
  fires(slow, kInputBound);
  fires(stall, kStall);
  EXPECT_EQ(text(),
            "Stalled: rank 3 has ended no step since {since} ({for}); the last one was step "
            "12,345, and the cause is not known (missing: gpu samples); 38 GPU minutes lost so "
            "far; and 1 more alert.");
  stall.ranks = "0-1";
  stall.verdict.cause.name = CauseName::input_wait;
  EXPECT_THAT(text(), StartsWith("Stalled: ranks 0-1 have ended no step since {since} ({for}); the "
                                 "last one was step 12,345; they are waiting for data; 76 GPU"));
  given_ = {};
  EXPECT_THAT(text(), StartsWith("Stalled: ranks 0-7 have ended no step")) << "its alert has ended";
  EXPECT_EQ(since(), run_.since);
}

TEST_F(HeadlineTest, Running) {
  run_.state = RunState::running;
  EXPECT_EQ(text(), "Running: 4.2 steps/s, step 12,345; nothing is lost.");
  EXPECT_EQ(since(), kNoTime);
  run_.lost.add(CauseName::input_wait, 31);
  run_.attempt = 2;
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345 of attempt 2; 3 % was lost, mostly waiting for "
            "data.");
  run_.seconds_per_step = 0;
  run_.lost = {};
  EXPECT_EQ(text(), "Running: step 12,345 of attempt 2; what is lost is not known.");
}

TEST_F(HeadlineTest, RunningWithAWarningThatCostsNothingYet) {
  run_.state = RunState::running;
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
  run_.state = RunState::running;
  Alert slow = alert(CauseName::cpu_saturation, 0.36 * 38 * 60);
  given_.info.push_back({&slow, &kRegression});
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345; since {since} ({for}) a CPU core is saturated on "
            "rank 3: 36 % of the time is lost, 14 GPU minutes so far.");
  slow.verdict.lost_seconds = 60;
  EXPECT_EQ(text(), "Running: 4.2 steps/s, step 12,345; nothing is lost.");
}

TEST_F(HeadlineTest, RunningSaysWhatIsJustOver) {
  run_.state = RunState::running;
  Alert spike = alert(CauseName::io_wait, 3.4);
  spike.verdict.since = spike.verdict.window_start = now_ - seconds(60);
  spike.ranks = "0-1";
  is_over(spike, kSpike, now_ - seconds(55));
  EXPECT_EQ(text(),
            "Running: 4.2 steps/s, step 12,345; at {since} ({for} ago) a step waited for storage "
            "on ranks 0-1: 6.8 GPU seconds lost.");
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
            "storage on ranks 0-1: 14 GPU seconds lost; and 1 more alert.");
  EXPECT_EQ(since(), now_ - minutes(8));
  given_ = {};
  Alert slow = alert(CauseName::cpu_saturation, 600);
  slow.updated_at = now_ - minutes(8);
  is_over(slow, kRegression, now_ - minutes(8));
  EXPECT_THAT(text(),
              HasSubstr("at {since} ({for} ago) training was slowed by a saturated CPU core "
                        "for 30 min on rank 3: 10 GPU minutes lost."));
  given_ = {};
  Alert stall = alert(CauseName::unattributed, 480);
  stall.updated_at = now_ - minutes(30);
  is_over(stall, kStall, now_ - minutes(30));
  EXPECT_THAT(text(), HasSubstr("training stood still for 8 min on rank 3, and the cause is not "
                                "known: 8.0 GPU minutes lost."));
}

TEST_F(HeadlineTest, StartingFinishedAndGone) {
  run_.state = RunState::starting;
  run_.step = 12;
  EXPECT_EQ(text(), "Starting: since {since} ({for}), step 12; its usual pace is not known yet.");
  run_.state = RunState::finished;
  run_.step = 5000;
  run_.last_end = kBegin + minutes(72);
  EXPECT_EQ(
      text(),
      "Finished at step 5,000 after 1 h 12 min (ranks 0-7, until {since}); nothing was lost.");
  run_.state = RunState::gone;
  run_.process_gone = true;
  EXPECT_EQ(
      text(),
      "Gone: nothing has come since {since} ({for}) from ranks 0-7, and the process no longer "
      "exists; the last one was step 5,000; nothing was lost.");
  EXPECT_EQ(since(), run_.since);
}

TEST_F(HeadlineTest, AJobWithoutRanksAndSteps) {
  run_ = {};
  EXPECT_THAT(text(), StartsWith("Starting: since {since} ({for}); its"));
  run_.state = RunState::finished;
  EXPECT_EQ(text(), "Finished after 0 s (until {since}); what was lost is not known.");
  run_.state = RunState::stalled;
  EXPECT_EQ(text(), "Stalled: training has ended no step since {since} ({for}).");
  run_.state = RunState::slow;
  EXPECT_EQ(text(), "Slow: since {since} ({for}).");
}

}  // namespace trainwatch::headline_test

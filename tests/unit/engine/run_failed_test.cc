// SPDX-License-Identifier: Apache-2.0
// The rule about ends by failure, through the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/engine.h"
#include "rules/catalog.h"

namespace trainwatch::run_failed_test {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RunFailedTest : public testing::Test {
 protected:
  RunFailedTest() { rank_ = engine_.interner().subjects.intern({"bert", "a", 0, ""}).value(); }

  void steps(std::int64_t begin, int count, std::int64_t from) {
    for (int i = 0; i < count; ++i) {
      Span span;
      span.kind = SpanKind::step;
      span.mode = Mode::train;
      span.subject = rank_;
      span.start = Time{seconds(begin + i)};
      span.duration = seconds(1);
      span.step = from + i;
      push(span);
    }
  }
  // A daemon has a clock, a replay has none.
  void live_at(std::int64_t second) { engine_.tick(Time{seconds(second)}); }
  void ends(std::int64_t at, EndClass what, EndWeight weight, std::int32_t rank,
            const std::string& text) {
    RunNote note;
    note.at = Time{seconds(at)};
    note.kind = RunNote::Kind::end_evidence;
    note.subject = rank_;
    note.end = EndEvidence{what, weight, rank};
    note.end->text = text;
    note.end->file = "slurm-1.out";
    SourceNote event{note.at, LaneId{}, SourceNote::Kind::run_note, rank_};
    event.number = engine_.announce(note);
    push(event);
  }
  void push(const Event& event) { engine_.push(std::span(&event, 1)); }
  std::vector<Alert> emitted() {
    engine_.flush();
    return engine_.take_emitted();
  }

  Engine engine_{{RuleConfig(*find_rule("run_failed"))}};
  SubjectId rank_{};
};

TEST_F(RunFailedTest, TheFirstFailureIsCriticalAndOutlivesTheRun) {
  live_at(100);
  steps(100, 50, 1);
  ends(151, EndClass::cuda_out_of_memory, EndWeight::cause, 3, "torch.OutOfMemoryError: CUDA");
  ends(152, EndClass::exception, EndWeight::consequence, 1, "DistBackendError");
  auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].severity, Severity::critical);
  EXPECT_EQ(alerts[0].verdict.summary,
            "The run failed at step 50: cuda_out_of_memory, first rank 3.");
  EXPECT_THAT(alerts[0].verdict.evidence, HasSubstr(R"("file":"slurm-1.out")"));
  engine_.end_of_input();
  EXPECT_THAT(emitted(), IsEmpty());
  EXPECT_EQ(engine_.book().firing(), 1U);
}

TEST_F(RunFailedTest, AStepThatBeginsAfterwardsTakesItBack) {
  live_at(100);
  steps(100, 50, 1);
  ends(151, EndClass::exception, EndWeight::exception, 0, "ValueError: a bad sample");
  ASSERT_THAT(emitted(), SizeIs(1));
  steps(153, 1, 51);
  const auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].state, Alert::State::resolved);
}

// torchrun's table comes after the run has been booked.
TEST_F(RunFailedTest, WhatIsReadLaterCorrectsIt) {
  live_at(100);
  steps(100, 50, 1);
  ends(151, EndClass::exception, EndWeight::consequence, 0, "Connection reset by peer");
  auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].verdict.summary, "The run failed at step 50: unknown.");
  for (std::int64_t second = 152; second < 180; ++second) live_at(second);
  ends(150, EndClass::signal, EndWeight::root, 1, "Signal 9 (SIGKILL)");
  alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].verdict.summary, "The run failed at step 50: signal, first rank 1.");
  EXPECT_EQ(alerts[0].updated_at, Time{seconds(151)}) << "else it would be taken for an old one";
}

TEST_F(RunFailedTest, AReplaySaysWhatAllFilesSayTogether) {
  ends(151, EndClass::exception, EndWeight::exception, 0, "ValueError: a bad sample");
  EXPECT_THAT(emitted(), IsEmpty()) << "its steps are in a file that has not been read";
  steps(100, 50, 1);
  steps(160, 20, 41);
  ends(181, EndClass::exception, EndWeight::exception, 0, "ValueError: another");
  engine_.end_of_input();
  const auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(3)) << "the first one, that it was taken back, and the second";
  EXPECT_EQ(alerts[0].verdict.step, 50);
  EXPECT_EQ(alerts[1].state, Alert::State::resolved);
  EXPECT_EQ(alerts[2].verdict.step, 60);
  EXPECT_EQ(alerts[2].incident, alerts[2].id) << "each failure speaks for itself";
}

TEST_F(RunFailedTest, ATimeLimitIsAWarningAndACancellationNothing) {
  live_at(100);
  steps(100, 50, 1);
  ends(151, EndClass::cancelled, EndWeight::ended, kNoRank, "*** JOB 7 ON n1 CANCELLED AT");
  EXPECT_THAT(emitted(), IsEmpty());
  ends(151, EndClass::time_limit, EndWeight::cause, kNoRank, "DUE TO TIME LIMIT");
  const auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].severity, Severity::warning);
  EXPECT_EQ(alerts[0].verdict.summary, "The run was ended at step 50: time_limit.");
}

}  // namespace trainwatch::run_failed_test

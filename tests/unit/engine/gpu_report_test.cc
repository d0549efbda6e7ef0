// SPDX-License-Identifier: Apache-2.0
// What the kernel's log says of GPUs, through the engine: the rule gpu_error, and no end of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/engine.h"
#include "rules/catalog.h"

namespace trainwatch::gpu_report_test {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

class GpuReportTest : public testing::Test {
 protected:
  GpuReportTest() {
    SubjectTable& subjects = engine_.interner().subjects;
    gpu_ = subjects.intern({"bert", "n12", kNoRank, "0000:4e:00"}).value();
    job_ = subjects.intern({"bert", "", kNoRank, ""}).value();
    rank_ = subjects.intern({"bert", "n12", 0, ""}).value();
  }

  void reports(std::int64_t at, std::int64_t number) {
    RunNote note{.at = Time{seconds(at)}, .kind = RunNote::Kind::gpu_report, .subject = gpu_};
    note.xid = XidReport{number, 4711, "NVRM: Xid"};
    push(std::move(note));
    RunNote end{.at = Time{seconds(at)}, .kind = RunNote::Kind::end_evidence, .subject = job_};
    end.end = EndEvidence{.what = EndClass::gpu_error, .weight = EndWeight::cause};
    end.end->text = "NVRM: Xid";
    end.end->of_machine = true;
    push(std::move(end));
  }
  void push(RunNote note) {
    SourceNote event{note.at, LaneId{}, SourceNote::Kind::run_note, note.subject};
    event.number = engine_.announce(std::move(note));
    push(Event{event});
  }
  void push(const Event& event) { engine_.push(std::span(&event, 1)); }
  void step(std::int64_t begin) {
    Span span;
    span.kind = SpanKind::step;
    span.mode = Mode::train;
    span.subject = rank_;
    span.start = Time{seconds(begin)};
    span.duration = seconds(1);
    span.step = begin;
    push(Event{span});
  }
  void live_at(std::int64_t second) { engine_.tick(Time{seconds(second)}); }
  std::vector<Alert> emitted() {
    engine_.flush();
    return engine_.take_emitted();
  }

  Engine engine_{{RuleConfig(*find_rule("gpu_error")), RuleConfig(*find_rule("run_failed"))}};
  SubjectId gpu_{};
  SubjectId job_{};
  SubjectId rank_{};
};

TEST_F(GpuReportTest, OneLineIsAnAlertAboutItsGpuAndShowsNoRun) {
  reports(1000, 79);
  engine_.end_of_input();
  const auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].severity, Severity::critical);
  EXPECT_EQ(alerts[0].verdict.summary,
            "The GPU reports XID 79 (it has fallen off the bus), in process 4711.");
  EXPECT_EQ(alerts[0].verdict.evidence, R"({"xid":79,"pid":4711,"line":"NVRM: Xid"})");
  EXPECT_EQ(alerts[0].subject.gpu, "0000:4e:00");
}

TEST_F(GpuReportTest, WhatTheProgramDidIsAWarningThatEndsWithTime) {
  live_at(1000);
  reports(1000, 31);
  auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].severity, Severity::warning);
  live_at(1299);
  EXPECT_THAT(emitted(), IsEmpty());
  live_at(1300);
  alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].state, Alert::State::resolved);
}

TEST_F(GpuReportTest, TheSameErrorAnHourLaterIsAnotherAlert) {
  reports(1000, 31);
  reports(1010, 31);
  ASSERT_THAT(emitted(), SizeIs(1));
  reports(4600, 31);
  const auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(2));
  EXPECT_EQ(alerts[0].state, Alert::State::resolved);
  EXPECT_EQ(alerts[1].state, Alert::State::firing);
}

// It hits other programs of the node as well: only who ends says that the run has failed.
TEST_F(GpuReportTest, OfARunItIsTheCauseOnceSomebodyReportsTheEnd) {
  live_at(1000);
  for (std::int64_t at = 1000; at < 1050; ++at) step(at);
  reports(1050, 79);
  ASSERT_THAT(emitted(), SizeIs(1)) << "of gpu_error";
  RunNote end{.at = Time{seconds(1060)}, .kind = RunNote::Kind::end_evidence, .subject = job_};
  end.end = EndEvidence{.what = EndClass::exception, .weight = EndWeight::ended};
  end.end->text = "srun: error: n12: task 0: Exited with exit code 1";
  push(std::move(end));
  const auto alerts = emitted();
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].verdict.summary, "The run failed at step 1049: gpu_error.");
}

}  // namespace trainwatch::gpu_report_test

// SPDX-License-Identifier: Apache-2.0
// Runs and their ends, with an engine whose one rule fires on every step above a second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/pipeline_report.h"

namespace trainwatch::runs_test {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

struct Params {};
class LongStep final : public Rule {
 public:
  LongStep(const Params&, const RuleContext&) {}
  void on_step(const Step& step, Verdicts& out) override {
    if (step.duration > seconds(1)) out.fires({.at = step.end()}, [] { return Verdict{}; });
  }
  void on_sample(const Sample& sample, Verdicts& out) override {
    out.fires({.at = sample.at}, [] { return Verdict{}; });
  }
  void state(StateIo&) override {}
};

const RuleSpec& long_step() {
  static const RuleSpec spec = make_spec<LongStep, Params>({.id = "long_step",
                                                            .scope = Scope::rank,
                                                            .summary = "",
                                                            .doc = "",
                                                            .samples = {Resource::cpu_utilization},
                                                            .incident = {.specificity = 1}},
                                                           {});
  return spec;
}

class RunsTest : public testing::Test {
 protected:
  RunsTest() {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      rank_[rank] = engine_.interner().subjects.intern({"bert", "a", rank, ""}).value();
    }
  }
  void step(std::int32_t rank, std::int64_t second, std::int64_t number, double lasts = 0.5,
            std::int64_t process = 7) {
    Span span;
    span.kind = SpanKind::step;
    span.mode = Mode::train;
    span.subject = rank_[rank];
    span.start = Time{seconds(second)};
    span.duration = from_seconds(lasts);
    span.step = number;
    span.process = process;
    push(span);
  }
  // A step of rank 1 in a profiler trace.
  void push_profiled_step() {
    Span step;
    step.kind = SpanKind::step;
    step.subject = rank_[1];
    step.origin = Origin::profiler;
    step.start = Time{seconds(90)};
    step.duration = seconds(1);
    step.step = 37;
    push(step);
  }
  void close(std::int32_t rank, std::int64_t second) {
    push(SourceNote{Time{seconds(second)}, LaneId{}, SourceNote::Kind::timeline_closed,
                    rank_[rank]});
  }
  void push(const Event& event) { engine_.push(std::span(&event, 1)); }
  void ticks(int count, std::int64_t from) {
    for (int i = 0; i < count; ++i) engine_.tick(Time{seconds(from + i)});
  }
  Life run() const {
    EXPECT_THAT(engine_.ledger().runs(), SizeIs(1));
    return engine_.ledger().life(engine_.ledger().runs().begin()->first);
  }
  bool is_over() const { return engine_.ledger().runs().begin()->second.ended().has_value(); }

  Engine engine_{{RuleConfig(long_step())}};
  SubjectId rank_[2];
  // After which a closed timeline is the end of the run.
  static constexpr int kQuiet = 40;
};

TEST_F(RunsTest, AJobIsOneRunWhateverItsRanks) {
  step(0, 100, 1);
  step(1, 100, 1);
  ticks(1, 101);
  EXPECT_EQ(run().attempts[0].ranks, 2U);
  for (int i = 0; i < 100; ++i) step(0, 101 + i, 2 + i);
  ticks(1, 201);
  EXPECT_EQ(run().state, LifeState::running);
  const std::string json = runs_json(engine_, Time{seconds(300)}, "all is \"well\"");
  EXPECT_THAT(json,
              StartsWith(R"({"now":"1970-01-01T00:05:00.000000Z","monitor":"all is \"well\"",)"));
  EXPECT_THAT(
      json,
      HasSubstr(R"("job":"bert","run":null,"state":"running","headline":{"text":"Running: )"));
}

TEST_F(RunsTest, ATimelineIsTheWholeStory) {
  push_profiled_step();
  step(0, 100, 1);
  push_profiled_step();
  EXPECT_EQ(run().attempts[0].ranks, 1U) << "a profiler's trace without a rank";
  EXPECT_EQ(run().attempts[0].first_step, 1);
  close(0, 101);
  ticks(kQuiet, 102);
  EXPECT_EQ(run().state, LifeState::finished);
}

// The scalars of a rank may say how long its steps take, and be a clock themselves.
TEST_F(RunsTest, WhatATrainingLogsIsNoSecondClockBesideItsSteps) {
  const auto log = [this](ScalarKind kind, std::int64_t second, std::int64_t number, double value) {
    Scalar scalar;
    scalar.at = Time{seconds(second)};
    scalar.timed = true;
    scalar.kind = kind;
    scalar.tag = engine_.interner().symbols.intern(to_string(kind));
    scalar.value = value;
    scalar.step = number;
    scalar.subject = rank_[0];
    push(scalar);
  };
  log(ScalarKind::loss, 99, 0, 2);
  for (std::int64_t number = 0; number < 20; ++number) {
    step(0, 100 + number, number);
    log(ScalarKind::loss, 101 + number, 1000 + 10 * number, 2);
    log(ScalarKind::step_seconds, 101 + number, 1000 + 10 * number, 5);
  }
  engine_.end_of_input();
  EXPECT_EQ(run().step, 19);
  EXPECT_EQ(run().steps, 20U);
  EXPECT_EQ(engine_.book().firing(), 0U);
}

TEST_F(RunsTest, ATimelineThatGoesOnInAnotherFileIsNotClosed) {
  for (int i = 0; i < 100; ++i) step(0, 100 + i, 1 + i);
  close(0, 200);
  Span forward;
  forward.kind = SpanKind::forward;
  forward.subject = rank_[0];
  forward.start = Time{seconds(200)};
  push(forward);
  ticks(kQuiet, 201);
  EXPECT_FALSE(is_over()) << "its next step has not ended";
  close(0, 300);
  forward.kind = SpanKind::data_worker;
  push(forward);
  ticks(kQuiet, 301);
  EXPECT_EQ(run().state, LifeState::finished) << "a worker outlives the training";
  step(0, 400, 200);
  close(0, 401);
  ticks(1, 402);
  EXPECT_EQ(run().state, LifeState::running);
  ticks(kQuiet, 403);
  EXPECT_EQ(run().state, LifeState::finished);
}

TEST_F(RunsTest, AlertsEndWithTheRun) {
  step(0, 100, 1, 5);
  step(1, 100, 1);
  ticks(1, 106);
  close(0, 110);
  ticks(kQuiet, 111);
  EXPECT_EQ(run().state, LifeState::stalled) << "rank 1 is still there";
  close(1, 112);
  ticks(kQuiet, 200);
  EXPECT_EQ(run().state, LifeState::finished);
  EXPECT_EQ(run().until, Time{seconds(105)}) << "what the last file says, not when it was closed";
  const auto emitted = engine_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(2));
  EXPECT_EQ(emitted[1].state, Alert::State::resolved);
  EXPECT_EQ(emitted[1].ended_because, EndedBecause::run_ended);
  EXPECT_EQ(emitted[1].ended_at, Time{seconds(105)}) << "with the last that was seen of it";
}

TEST_F(RunsTest, WhatFollowsIsNotAboutTheRun) {
  Series series;
  series.subject = rank_[0];
  series.resource = Resource::cpu_utilization;
  const SeriesId id = *engine_.interner().series.intern(series);
  step(0, 100, 1);
  close(0, 101);
  ticks(kQuiet, 102);
  push(Sample{Time{seconds(140)}, 1, id, Resource::cpu_utilization});
  EXPECT_THAT(engine_.take_emitted(), IsEmpty()) << "idle after the end";
  step(0, 150, 2);
  push(Sample{Time{seconds(151)}, 1, id, Resource::cpu_utilization});
  EXPECT_THAT(engine_.take_emitted(), SizeIs(1)) << "it went on after all";
}

TEST_F(RunsTest, ARotatedFileEndsNothing) {
  step(0, 100, 1, 5);
  close(0, 105);
  step(0, 105, 2);
  ticks(2 * kQuiet, 106);
  EXPECT_FALSE(is_over());
  EXPECT_THAT(engine_.take_emitted(), SizeIs(1));
}

TEST_F(RunsTest, TheEndOfTheInputIsTheEndOfClosedRunsOnly) {
  step(0, 100, 1, 5);
  engine_.end_of_input();
  EXPECT_FALSE(is_over());
  close(0, 106);
  engine_.end_of_input();
  ASSERT_TRUE(is_over());
  EXPECT_EQ(engine_.take_emitted().back().ended_because, EndedBecause::run_ended);
}

TEST_F(RunsTest, AfterADayOfSilenceItIsGone) {
  step(0, 100, 1, 5);
  ticks(100, 200);
  EXPECT_FALSE(is_over());
  ticks(1, 105 + 86401);
  ASSERT_TRUE(is_over());
  EXPECT_EQ(run().state, LifeState::gone);
  EXPECT_EQ(engine_.take_emitted().back().ended_because, EndedBecause::run_gone);
}

TEST_F(RunsTest, WithItsProcessItIsGoneAtOnce) {
  step(0, 100, 1, 5);
  const auto writers = engine_.writers();
  ASSERT_THAT(writers, SizeIs(1));
  EXPECT_EQ(writers[0].process, 7);
  engine_.writer_gone(writers[0]);
  ticks(2, 106);
  EXPECT_EQ(run().state, LifeState::running);
  ticks(1, 108);
  EXPECT_EQ(run().state, LifeState::gone);
  ticks(20, 110);
  EXPECT_EQ(run().state, LifeState::gone);
  EXPECT_EQ(engine_.take_emitted().back().ended_because, EndedBecause::run_gone);
  EXPECT_THAT(engine_.writers(), IsEmpty());
  step(0, 300, 2, 0.5, 8);
  EXPECT_FALSE(is_over()) << "started again";
}

TEST_F(RunsTest, ARestartIsAnotherAttempt) {
  step(0, 100, 8, 5, 7);
  step(0, 200, 1, 0.5, 8);
  ticks(1, 201);
  ASSERT_THAT(run().attempts, SizeIs(2));
  EXPECT_EQ(run().attempts[1].number, 2U);
  const auto emitted = engine_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(2));
  EXPECT_EQ(emitted[0].attempt, 1U);
  EXPECT_EQ(emitted[1].state, Alert::State::resolved);
  EXPECT_EQ(emitted[1].ended_because, EndedBecause::restarted);
  EXPECT_EQ(emitted[1].ended_at, Time{seconds(200)});
}

TEST_F(RunsTest, StateSurvives) {
  step(0, 100, 1, 5);
  close(0, 110);
  ticks(kQuiet, 111);
  StateRows rows;
  engine_.save(rows, true);
  StoredRows stored;
  for (const auto& [key, value] : rows.changed()) {
    if (value) stored.emplace(key, *value);
  }
  Engine other({RuleConfig(long_step())});
  ASSERT_TRUE(other.load(stored));
  EXPECT_EQ(runs_json(other, kNoTime, ""), runs_json(engine_, kNoTime, ""));
}

// The rows that a step of one rank among a thousand changes are those of one rank.
TEST_F(RunsTest, EachRankHasARow) {
  step(0, 100, 1);
  step(1, 100, 1);
  const auto changed = [this] {
    StateRows rows;
    engine_.save(rows, false);
    std::vector<std::string> keys;
    for (const auto& [key, value] : rows.changed()) {
      if (key.starts_with("ledger_rank/")) keys.push_back((value ? "" : "-") + key);
    }
    return keys;
  };
  EXPECT_THAT(changed(), SizeIs(2));
  const std::string row = id_row("ledger_rank/", rank_[1]);
  step(1, 101, 2);
  EXPECT_THAT(changed(), ElementsAre(row));
  close(1, 102);
  EXPECT_THAT(changed(), ElementsAre(row));
  engine_.writer_gone({rank_[1], 7});
  EXPECT_THAT(changed(), ElementsAre(row));
  EXPECT_THAT(changed(), IsEmpty());
}

TEST_F(RunsTest, ARankThatNoLongerCountsLosesItsRow) {
  push_profiled_step();
  StateRows rows;
  engine_.save(rows, false);
  step(0, 100, 1);  // of a timeline
  engine_.save(rows, false);
  ASSERT_TRUE(rows.changed().contains(id_row("ledger_rank/", rank_[1])));
  EXPECT_FALSE(rows.changed().at(id_row("ledger_rank/", rank_[1])).has_value());
  EXPECT_TRUE(rows.changed().at(id_row("ledger_rank/", rank_[0])).has_value());
}

}  // namespace trainwatch::runs_test

// SPDX-License-Identifier: Apache-2.0
// The engine with a rule made for the test: keying, state, and independence of interleaving.
#include "pipeline/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "pipeline/analysis/catalog.h"
#include "pipeline/engine/alert_json.h"
#include "support/engine_state.h"

namespace trainwatch::engine_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Fires on every step above `limit` seconds, ok on every other.
struct LongStepParams {
  double limit = 1;
};
class LongStep final : public Rule {
 public:
  LongStep(const LongStepParams& params, const RuleContext& context)
      : params_(params), context_(context) {}
  void on_step(const Step& step, Verdicts& out) override {
    EXPECT_EQ(context_.interner.subjects[step.subject].rank,
              context_.interner.subjects[context_.subject].rank);
    ++seen_;
    if (to_seconds(step.duration) <= params_.limit) return out.clear_all(step.end());
    Verdict verdict;
    verdict.window_start = step.start;
    verdict.window_end = step.end();
    verdict.step = step.number;
    verdict.value = static_cast<double>(seen_);
    out.fires({.at = step.end()}, [&] { return verdict; });
  }
  void state(StateIo& io) override { io(seen_); }
  bool warming() const override { return seen_ == 0; }

 private:
  LongStepParams params_;
  RuleContext context_;
  std::uint64_t seen_ = 0;
};

const RuleSpec& long_step() {
  static const RuleSpec spec = make_spec<LongStep, LongStepParams>(
      {.id = "long_step", .scope = Scope::rank, .summary = "", .doc = ""},
      {field("limit", &LongStepParams::limit, 0, 100, "Seconds.")});
  return spec;
}

class EngineTest : public testing::Test {
 protected:
  static constexpr std::int32_t kRanks = 3;

  EngineTest() { intern(engine_); }

  void intern(Engine& engine) {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      rank_[rank] = engine.interner().subjects.intern({"", "algo-1", rank, ""}).value();
    }
    node_ = engine.interner().subjects.intern({"", "algo-1", kNoRank, ""}).value();
    Series series;
    series.subject = node_;
    series.resource = Resource::cpu_utilization;
    if (engine.interner().series.size() == 0) series_ = *engine.interner().series.intern(series);
  }

  Event step(std::int32_t rank, std::int64_t second, double seconds) const {
    Span span;
    span.kind = SpanKind::step;
    span.mode = Mode::train;
    span.subject = rank_[rank];
    span.start = Time{std::chrono::seconds(second)};
    span.duration = Nanos{static_cast<std::int64_t>(seconds * 1e9)};
    span.step = second;
    return span;
  }
  Event cpu(std::int64_t second, double percent) const {
    return Sample{Time{std::chrono::seconds(second)}, percent, series_, Resource::cpu_utilization};
  }

  static std::map<std::string, std::string> finals(Engine& engine) {
    engine.flush();
    std::map<std::string, std::string> last;
    for (const Alert& alert : engine.take_emitted()) {
      const std::string json = to_json(alert);
      EXPECT_EQ(to_json(alert_from_json(json).value_or(Alert{})), json);
      last[alert.id] = json;
    }
    return last;
  }

  Engine engine_{{RuleConfig(long_step())}};
  SubjectId rank_[kRanks] = {};
  SubjectId node_{};
  SeriesId series_{};
};

TEST_F(EngineTest, EachRankHasItsOwnInstance) {
  const std::vector<Event> events = {step(0, 1, 0.5), step(1, 1, 0.5), step(0, 2, 3),
                                     step(1, 2, 3)};
  engine_.push(events);
  const auto emitted = engine_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(2)) << "rank 0, and rank 1 as its part";
  EXPECT_EQ(emitted[0].subject.rank, 0);
  EXPECT_EQ(emitted[1].subject.rank, 1);
  EXPECT_EQ(emitted[1].incident, emitted[0].id);
  EXPECT_TRUE(emitted[1].is_part());
  engine_.flush();
  const auto more = engine_.take_emitted();
  ASSERT_THAT(more, SizeIs(1)) << "one more rank is no news of its own";
  EXPECT_EQ(more[0].id, emitted[0].id);
  EXPECT_EQ(more[0].ranks, "0-1");
  EXPECT_EQ(engine_.host().instances(0), 2U);
  EXPECT_EQ(engine_.host().evaluations(0), 4U);
}

// Wants a tick five seconds after the last one, or after a step.
struct SleepyParams {
  double unused = 1;
};
class Sleepy final : public Rule {
 public:
  Sleepy(const SleepyParams&, const RuleContext&) {}
  void on_step(const Step&, Verdicts&) override {}
  TickResult on_tick(Tick tick, Verdicts&) override {
    return {.changed = true, .next = tick.now + std::chrono::seconds(5)};
  }
  void state(StateIo&) override {}
};

const RuleSpec& sleepy() {
  static const RuleSpec spec = make_spec<Sleepy, SleepyParams>(
      {.id = "sleepy", .scope = Scope::rank, .summary = "", .doc = ""},
      {field("unused", &SleepyParams::unused, 0, 100, "")});
  return spec;
}

TEST_F(EngineTest, ARuleGetsATickWhenItWantsOneOrSomethingCame) {
  Engine engine{{RuleConfig(sleepy())}};
  intern(engine);
  const auto evaluations = [&](std::int64_t second) {
    const std::uint64_t before = engine.host().evaluations(0);
    engine.tick(Time{std::chrono::seconds(second)});
    return engine.host().evaluations(0) - before;
  };
  engine.push(std::vector<Event>{step(0, 1, 1), step(1, 1, 1)});
  EXPECT_EQ(evaluations(10), 2U);
  EXPECT_EQ(evaluations(14), 0U);
  engine.push(std::vector<Event>{step(1, 2, 1)});
  EXPECT_EQ(evaluations(14), 1U);
  EXPECT_EQ(evaluations(15), 1U) << "rank 0";
  EXPECT_EQ(evaluations(19), 1U) << "rank 1";
  engine.on(CheckpointWrite{"", kNoTime, Time{std::chrono::seconds(19)}});
  EXPECT_EQ(evaluations(19), 2U) << "a checkpoint";
}

TEST_F(EngineTest, CauseIsTheSameWhateverStreamCameFirst) {
  std::vector<Event> system;
  for (std::int64_t s = 0; s < 30; ++s) system.push_back(cpu(s, s >= 10 && s < 14 ? 99 : 20));
  const std::vector<Event> steps = {step(0, 5, 0.5), step(0, 10, 3), step(0, 14, 0.5)};

  engine_.push(system);
  engine_.push(steps);
  const auto system_first = finals(engine_);

  Engine other{{RuleConfig(long_step())}};
  intern(other);
  other.push(steps);
  other.push(system);
  const auto steps_first = finals(other);

  ASSERT_THAT(system_first, SizeIs(1));
  EXPECT_THAT(system_first.begin()->second, testing::HasSubstr("cpu_saturation"));
  EXPECT_EQ(system_first, steps_first);
}

TEST_F(EngineTest, AlertsAndResultsAreTheSameWhenAnalysesHaveAThreadOfTheirOwn) {
  const AnalysisList analyses = {find_analysis("step_statistics"), find_analysis("heatmap")};
  int batches_beside = 0;
  Engine beside{{RuleConfig(long_step())}, analyses, [&](const auto& other, const auto& here) {
                  ++batches_beside;
                  std::thread thread(other);
                  here();
                  thread.join();
                }};
  Engine alone{{RuleConfig(long_step())}, analyses};
  intern(beside);
  intern(alone);
  std::vector<Event> events;
  for (std::int64_t s = 0; s < 2000; ++s) {
    events.push_back(cpu(s, static_cast<double>(s % 100)));
    events.push_back(step(static_cast<std::int32_t>(s % kRanks), s, s % 50 == 49 ? 3 : 0.5));
  }
  beside.push(events);
  for (const Event& event : events) alone.push({&event, 1});

  EXPECT_EQ(batches_beside, 1);
  const auto same = finals(alone);
  EXPECT_THAT(same, Not(IsEmpty()));
  EXPECT_EQ(finals(beside), same);
  for (const AnalysisSpec* const analysis : analyses) {
    const auto result = beside.analyses().result(analysis->name, "");
    EXPECT_EQ(result->json(), alone.analyses().result(analysis->name, "")->json());
  }
}

TEST_F(EngineTest, ARestoredEngineGoesOnWhereTheSavedOneStood) {
  const std::vector<Event> before = {step(0, 1, 0.5), step(0, 2, 3), step(1, 2, 3)};
  const std::vector<Event> after = {step(0, 5, 4), cpu(3, 99), cpu(20, 10), step(0, 9, 0.5)};
  engine_.push(before);
  engine_.take_emitted();
  const StoredRows rows = test::saved(engine_);

  Engine restored{{RuleConfig(long_step())}};
  ASSERT_TRUE(restored.load(rows));
  engine_.push(after);
  restored.push(after);
  const auto expected = finals(engine_);
  ASSERT_THAT(expected, SizeIs(2)) << "one resolved, one with a better cause";
  EXPECT_EQ(finals(restored), expected);
}

TEST_F(EngineTest, DamagedStateIsRefused) {
  engine_.push(std::vector<Event>{step(0, 1, 0.5)});
  for (const auto& [key, value] : test::saved(engine_)) {
    if (key.starts_with("rule/")) continue;  // a damaged rule starts cold
    for (std::size_t size = 0; size < value.size(); size += 7) {
      StoredRows rows = test::saved(engine_);
      rows[key].resize(size);
      EXPECT_FALSE(Engine({RuleConfig(long_step())}).load(rows)) << key;
    }
  }
}

TEST_F(EngineTest, RowsThatChangedAreEnough) {
  StoredRows rows = test::saved(engine_);
  for (int i = 0; i < 40; ++i) {
    engine_.push(std::vector<Event>{step(i % kRanks, 10 * i, i % 5), cpu(10 * i, 50 + i)});
    StateRows changes;
    engine_.take_emitted();
    engine_.save(changes, false);
    test::store(changes, rows);
    EXPECT_EQ(rows, test::saved(engine_)) << i;
  }
}

TEST_F(EngineTest, AChangedRuleStartsColdAndItsAlertResolves) {
  engine_.push(std::vector<Event>{step(0, 2, 3)});
  engine_.take_emitted();
  RuleConfig changed(long_step());
  ASSERT_TRUE(changed.set("limit", "10").ok());
  Engine restored{{changed}};
  ASSERT_TRUE(restored.load(test::saved(engine_)));
  const auto emitted = restored.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1));
  EXPECT_EQ(emitted[0].state, Alert::State::resolved);
  EXPECT_EQ(restored.host().instances(0), 1U);
  EXPECT_EQ(restored.host().warming(0), 1U);
  EXPECT_EQ(restored.host().evaluations(0), 0U);
}

TEST_F(EngineTest, ReconfigureKeepsWhatDidNotChange) {
  engine_.push(std::vector<Event>{step(0, 2, 3)});
  engine_.take_emitted();
  engine_.reconfigure({RuleConfig(long_step())});
  EXPECT_THAT(engine_.take_emitted(), SizeIs(0));
  engine_.push(std::vector<Event>{step(0, 5, 3)});
  engine_.flush();
  EXPECT_EQ(engine_.book().firing(), 1U);
  engine_.book().each_firing([](std::uint32_t, const Alert& alert) { EXPECT_EQ(alert.count, 2U); });

  RuleConfig changed(long_step());
  ASSERT_TRUE(changed.set("limit", "10").ok());
  engine_.take_emitted();
  engine_.reconfigure({changed});
  const auto emitted = engine_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1));
  EXPECT_EQ(emitted[0].state, Alert::State::resolved);
  EXPECT_FALSE(changed.set("limit", "1000").ok());
  EXPECT_FALSE(changed.set("limits", "1").ok());
}

}  // namespace trainwatch::engine_test

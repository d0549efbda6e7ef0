// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/alert_json.h"
#include "support/engine_state.h"

namespace trainwatch::alert_book_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Time at(std::int64_t seconds) {
  return Time{std::chrono::seconds(seconds)};
}

class AlertBookTest : public testing::Test {
 protected:
  AlertBookTest() {
    spec_.id = "some_rule";
    subject_ = interner_.subjects.intern({"job", "node", 3, ""}).value();
    source_.subject = subject_;
  }

  void firing(std::int64_t second, Severity severity = Severity::warning, std::string_view key = "",
              CauseName cause = CauseName::unattributed) {
    const Condition condition{.key = key, .at = at(second), .severity = severity};
    if (!book_.fires(source_, condition)) return;
    Verdict verdict;
    verdict.key = key;
    verdict.at = condition.at;
    verdict.severity = severity;
    verdict.cause.name = cause;
    book_.apply(source_, verdict);
  }
  void ok(std::int64_t second, std::string_view key = "") { book_.clear(source_, key, at(second)); }

  Interner interner_;
  RuleSpec spec_;
  SubjectId subject_{};
  RuleConfig config_{spec_};
  AlertBook::Source source_{0, SubjectId::none, &config_, {}};
  AlertBook book_{interner_};
};

TEST_F(AlertBookTest, OpensUpdatesAndResolvesOneEpisode) {
  firing(10);
  firing(11);
  firing(12);
  auto emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1)) << "a storm is one alert";
  EXPECT_EQ(emitted[0].state, Alert::State::firing);
  EXPECT_EQ(emitted[0].started_at, at(10));

  book_.flush();
  emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1)) << "held changes are emitted by flush()";
  EXPECT_EQ(emitted[0].count, 3U);
  EXPECT_EQ(emitted[0].updated_at, at(12));

  ok(20);
  emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1));
  EXPECT_EQ(emitted[0].state, Alert::State::resolved);
  EXPECT_EQ(emitted[0].ended_at, at(20));
  EXPECT_EQ(book_.firing(), 0U);
}

// On several ranks the same step is slow; the files of some are read a little later.
class SettlingTest : public AlertBookTest {
 protected:
  SettlingTest() { spec_.incident = {.specificity = 50, .of_one_step = true}; }
  void slow_step(std::int32_t rank, CauseName cause, Severity severity = Severity::warning) {
    source_.subject = interner_.subjects.intern({"job", "node", rank, ""}).value();
    const Condition condition{.at = at(10), .severity = severity};
    ASSERT_TRUE(book_.fires(source_, condition));
    Verdict verdict;
    verdict.at = condition.at;
    verdict.severity = severity;
    verdict.step = 7;
    verdict.cause.name = verdict.own_cause = cause;
    book_.apply(source_, verdict);
  }
};

TEST_F(SettlingTest, OneAlertSpeaksFromTheBeginning) {
  slow_step(0, CauseName::unattributed);
  ok(11);
  book_.flush();
  slow_step(1, CauseName::input_wait);
  EXPECT_FALSE(book_.has_settled());
  EXPECT_THAT(book_.take_settled(), IsEmpty());
  book_.flush();
  const auto first = book_.take_settled();
  ASSERT_THAT(first, SizeIs(2)) << "that it fires, and that it is over";
  EXPECT_TRUE(first[0].is_part());
  EXPECT_TRUE(first[1].is_part());
  EXPECT_EQ(first[1].state, Alert::State::resolved);
  book_.flush();
  const auto second = book_.take_settled();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].subject.rank, 1);
  EXPECT_EQ(second[0].ranks, "0-1");
  EXPECT_EQ(second[0].id, first[0].incident);
}

TEST_F(SettlingTest, ACriticalOneWaitsForTheSameSecondOnly) {
  slow_step(0, CauseName::unattributed, Severity::critical);
  slow_step(1, CauseName::host_pause, Severity::critical);
  book_.flush();
  const auto settled = book_.take_settled();
  ASSERT_THAT(settled, SizeIs(2));
  EXPECT_TRUE(settled[0].is_part());
  EXPECT_FALSE(settled[1].is_part());
}

TEST_F(SettlingTest, WhatWaitsSurvivesARestart) {
  slow_step(0, CauseName::unattributed);
  const std::vector<RuleConfig> rules = {RuleConfig(spec_)};
  StateRows changes;
  book_.save(changes, rules, true);
  StoredRows rows;
  test::store(changes, rows);
  AlertBook restored(interner_);
  ASSERT_TRUE(restored.load(rows, rules, {true}, at(10)));
  EXPECT_THAT(restored.take_settled(), IsEmpty());
  restored.settle();
  ASSERT_THAT(restored.take_settled(), SizeIs(1));
}

TEST_F(AlertBookTest, ANewEpisodeHasANewId) {
  firing(10);
  ok(11);
  firing(12);
  const auto emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(3));
  EXPECT_EQ(emitted[0].id, emitted[1].id);
  EXPECT_NE(emitted[0].id, emitted[2].id);
  EXPECT_THAT(emitted[0].id, SizeIs(32));
}

TEST_F(AlertBookTest, KeysAreSeparateEpisodes) {
  firing(1, Severity::warning, "train");
  firing(2, Severity::warning, "eval");
  ok(3, "train");
  EXPECT_EQ(book_.firing(), 1U);
  EXPECT_EQ(book_.reached(0, Severity::warning).total, 2U);
  EXPECT_EQ(book_.firing(0), 1U);
}

TEST_F(AlertBookTest, ChangeOfSeverityOrCauseIsEmittedAtOnce) {
  firing(1, Severity::info);
  firing(2, Severity::warning);
  firing(3, Severity::warning, "", CauseName::input_wait);
  EXPECT_THAT(book_.take_emitted(), SizeIs(3));
}

TEST_F(AlertBookTest, EverySeverityThatAnAlertReachesIsCountedOnce) {
  firing(1, Severity::info);
  firing(2, Severity::warning);
  firing(100, Severity::info);
  firing(200, Severity::warning);
  EXPECT_EQ(book_.reached(0, Severity::info).total, 1U);
  EXPECT_EQ(book_.reached(0, Severity::warning).total, 1U);
  EXPECT_EQ(book_.reached(0, Severity::critical).total, 0U);
  ok(201);
  firing(202, Severity::critical);
  EXPECT_EQ(book_.reached(0, Severity::warning).total, 1U) << "it never was a warning";
  EXPECT_EQ(book_.reached(0, Severity::critical).total, 1U);
}

TEST_F(AlertBookTest, WhatAnAlertReachedWhilePendingCountsWhenItFires) {
  config_.hold = std::chrono::seconds(70);
  firing(10, Severity::critical);
  firing(75, Severity::warning);
  book_.advance(source_, at(80));
  EXPECT_EQ(book_.reached(0, Severity::warning).total, 1U);
  EXPECT_EQ(book_.reached(0, Severity::critical).total, 0U) << "nobody has heard of that";
  firing(140, Severity::critical);
  EXPECT_EQ(book_.reached(0, Severity::critical).total, 1U);
}

TEST_F(AlertBookTest, OneAtATimeEndsTheFirstBeforeItOpensTheSecond) {
  source_.lifecycle = {.recover_after = 2, .one_at_a_time = true};
  firing(1, Severity::warning, "few");
  firing(2, Severity::warning, "many");
  EXPECT_EQ(book_.firings(source_, "many"), 0U);
  firing(3, Severity::warning, "many");
  const auto emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(3));
  EXPECT_EQ(emitted[1].state, Alert::State::resolved);
  EXPECT_EQ(emitted[1].verdict.key, "few");
  EXPECT_EQ(emitted[2].verdict.key, "many");
  book_.clear_all(source_, at(4));
  book_.clear_all(source_, at(5));
  EXPECT_EQ(book_.firing(), 0U);
}

TEST_F(AlertBookTest, AnEvaluationThatIsNoUpdateChangesNothing) {
  source_.lifecycle = {.change = Lifecycle::Change::points, .min_change = 1};
  firing(1);
  firing(2);
  book_.flush();
  const auto emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1));
  EXPECT_EQ(emitted[0].count, 1U);
  EXPECT_EQ(book_.firings(source_, ""), 2U);
}

TEST_F(AlertBookTest, HoldDelaysTheAlertAndAnOkCancelsIt) {
  config_.hold = std::chrono::seconds(5);
  firing(10);
  EXPECT_TRUE(book_.waiting());
  EXPECT_EQ(book_.firing(), 0U);
  ok(12);
  EXPECT_FALSE(book_.waiting());
  EXPECT_THAT(book_.take_emitted(), IsEmpty());

  firing(20);
  book_.advance(source_, at(24));
  EXPECT_THAT(book_.take_emitted(), IsEmpty());
  book_.advance(source_, at(25));
  EXPECT_THAT(book_.take_emitted(), SizeIs(1));
  EXPECT_FALSE(book_.waiting());
}

TEST_F(AlertBookTest, KeepBridgesShortRecoveries) {
  config_.keep = std::chrono::seconds(5);
  firing(10);
  ok(11);
  firing(13);
  book_.advance(source_, at(30));
  ASSERT_THAT(book_.take_emitted(), SizeIs(1)) << "still the same episode, still firing";
  ok(31);
  book_.advance(source_, at(36));
  const auto emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1));
  EXPECT_EQ(emitted[0].ended_at, at(36));
  EXPECT_EQ(emitted[0].count, 2U);
}

TEST_F(AlertBookTest, RefinesOpenAndResolvedAlerts) {
  firing(10);
  const std::string id = book_.take_emitted().at(0).id;
  const AlertBook::Key key{0, subject_, ""};
  book_.refine(key, id, {CauseName::io_wait, 0.8, "waited", {}});
  ASSERT_THAT(book_.take_emitted(), SizeIs(1));
  ok(11);
  book_.take_emitted();
  book_.refine(key, id, {CauseName::cpu_saturation, 0.9, "busy", {}});
  const auto emitted = book_.take_emitted();
  ASSERT_THAT(emitted, SizeIs(1));
  EXPECT_EQ(emitted[0].state, Alert::State::resolved);
  EXPECT_EQ(emitted[0].verdict.cause.name, CauseName::cpu_saturation);
}

TEST_F(AlertBookTest, StateSurvives) {
  config_.hold = std::chrono::seconds(5);
  firing(10);
  const std::vector<RuleConfig> rules = {RuleConfig(spec_)};
  StateRows changes;
  book_.save(changes, rules, false);
  StoredRows rows;
  test::store(changes, rows);

  AlertBook restored{interner_};
  ASSERT_TRUE(restored.load(rows, rules, {true}, at(10)));
  EXPECT_TRUE(restored.waiting());
  restored.advance(source_, at(15));
  book_.advance(source_, at(15));
  EXPECT_EQ(to_json(restored.take_emitted().at(0)), to_json(book_.take_emitted().at(0)));
}

TEST_F(AlertBookTest, JsonHasThePromisedShape) {
  firing(10);
  Alert alert = book_.take_emitted().at(0);
  alert.seq = 7;
  alert.verdict.summary = "a \"quoted\" summary";
  EXPECT_EQ(
      published(alert, to_json(alert), "e-1").json,
      R"({"id":")" + alert.id +
          R"(","seq":7,"epoch":"e-1","state":"firing","rule":"some_rule","severity":"warning",)"
          R"("started_at":"1970-01-01T00:00:10.000000Z","updated_at":"1970-01-01T00:00:10.000000Z",)"
          R"("ended_at":null,"ended_because":null,"subject":{"job":"job","node":"node","rank":3},"incident":")" +
          alert.id +
          R"(","count":1,"step":null,"value":0,"threshold":0,"baseline":0,"unit":"",)"
          R"("lost_seconds":0,"summary":"a \"quoted\" summary",)"
          R"("cause":{"name":"unattributed","missing":[]},"evidence":{},"next":"",)"
          R"("runbook":"/docs/rules/some_rule"})");
}

}  // namespace trainwatch::alert_book_test

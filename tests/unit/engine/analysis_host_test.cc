#include "pipeline/engine/analysis_host.h"

#include <gtest/gtest.h>

#include "pipeline/analysis/catalog.h"

namespace trainwatch {
namespace {

class AnalysisHostTest : public testing::Test {
 protected:
  Span step(const std::string& job, std::int64_t number) {
    Span span;
    span.kind = SpanKind::step;
    span.mode = Mode::train;
    span.step = number;
    span.start = Time{std::chrono::seconds(number)};
    span.duration = std::chrono::milliseconds(100);
    span.subject = vocabulary_.subjects.intern({job, "algo-1", 0, ""});
    span.phase = span.name = vocabulary_.symbols.intern("Step:ModeKeys.TRAIN");
    return span;
  }
  void tell(AnalysisHost& host, const Span& span) { host.on(span, Event{span}); }

  static StoredRows stored(const StateRows& rows) {
    StoredRows all;
    for (const auto& [key, value] : rows.all()) all.emplace(key, *value);
    return all;
  }

  Vocabulary vocabulary_;
  AnalysisList two_ = {find_analysis("step_statistics"), find_analysis("step_timeline")};
};

TEST_F(AnalysisHostTest, JobsAreApart) {
  AnalysisHost host(two_, vocabulary_);
  tell(host, step("a", 1));
  tell(host, step("b", 2));
  EXPECT_EQ(host.jobs(), (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(host.result("step_timeline", "a"), host.result("step_timeline", "b"));
}

TEST_F(AnalysisHostTest, WhatDoesNotRunHasNoResult) {
  AnalysisHost host(two_, vocabulary_);
  EXPECT_FALSE(host.result("heatmap", ""));
  EXPECT_TRUE(host.result("step_timeline", "never seen")) << "that of no events";
}

TEST_F(AnalysisHostTest, GoesOnWhereItWasSaved) {
  AnalysisHost straight(two_, vocabulary_);
  AnalysisHost before(two_, vocabulary_);
  for (std::int64_t i = 0; i < 10; ++i) {
    tell(straight, step("a", i));
    tell(before, step("a", i));
  }
  StateRows rows;
  before.save(rows, false);
  AnalysisHost after(two_, vocabulary_);
  after.load(stored(rows));
  tell(straight, step("a", 10));
  tell(after, step("a", 10));
  for (const AnalysisSpec* spec : two_) {
    EXPECT_EQ(straight.result(spec->name, "a"), after.result(spec->name, "a")) << spec->name;
  }
  StateRows unchanged;
  before.save(unchanged, false);
  EXPECT_TRUE(unchanged.all().empty());
}

TEST_F(AnalysisHostTest, ADamagedRowCostsOneAnalysis) {
  AnalysisHost before(two_, vocabulary_);
  tell(before, step("a", 1));
  StateRows rows;
  before.save(rows, true);
  StoredRows damaged = stored(rows);
  ASSERT_EQ(damaged.size(), 2);
  damaged.begin()->second.pop_back();
  AnalysisHost after(two_, vocabulary_);
  after.load(damaged);
  EXPECT_NE(before.result("step_statistics", "a"), after.result("step_statistics", "a"));
  EXPECT_EQ(before.result("step_timeline", "a"), after.result("step_timeline", "a"));
  tell(after, step("a", 2));
}

}  // namespace
}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/analysis_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipeline/analysis/catalog.h"

namespace trainwatch::analysis_host_test {

// The sum of the durations of the steps.
class StepSum final : public Analysis {
 public:
  explicit StepSum(const Interner&) {}
  void on_span(const Span& span) override { sum_ += span.duration; }
  void state(StateIo& io) override { io(sum_); }
  Figures figures() const override {
    Figures out;
    out.add("sum_ns", sum_.count());
    return out;
  }

 private:
  Nanos sum_{};
};

// "": it does not run there.
std::string result(const AnalysisHost& host, std::string_view name, std::string_view job) {
  const auto figures = host.result(name, job);
  return figures ? figures->json() : "";
}

// It has the state of an analysis, and not only events.
bool is_whole(const StateRows& rows) {
  return std::ranges::any_of(rows.changed(),
                             [](const auto& row) { return row.first.starts_with("analysis/"); });
}

class AnalysisHostTest : public testing::Test {
 protected:
  Span step(const std::string& job, std::int64_t number) {
    Span span;
    span.kind = SpanKind::step;
    span.mode = Mode::train;
    span.step = number;
    span.start = Time{std::chrono::seconds(number)};
    span.duration = std::chrono::milliseconds(100);
    span.subject = interner_.subjects.intern({job, "algo-1", 0, ""}).value();
    span.phase = span.name = interner_.symbols.intern("Step:ModeKeys.TRAIN");
    return span;
  }
  static void push(AnalysisHost& host, const Event& event) { host.push({&event, 1}); }
  static StoredRows stored(const StateRows& rows) {
    StoredRows all;
    for (const auto& [key, value] : rows.changed()) all.emplace(key, *value);
    return all;
  }

  static void keep(const StateRows& rows, StoredRows& store) {
    for (const auto& [key, value] : rows.changed()) {
      if (value) store.insert_or_assign(key, *value);
      if (!value) store.erase(key);
    }
  }
  static std::size_t bytes_of(const StateRows& rows) {
    std::size_t bytes = 0;
    for (const auto& [key, value] : rows.changed()) bytes += value ? value->size() : 0;
    return bytes;
  }

  Interner interner_;
  AnalysisList two_ = {find_analysis("step_statistics"), find_analysis("step_timeline")};
};

TEST_F(AnalysisHostTest, JobsAreApart) {
  AnalysisHost host(two_, interner_);
  push(host, step("a", 1));
  push(host, step("b", 2));
  EXPECT_EQ(host.jobs(), (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(result(host, "step_timeline", "a"), result(host, "step_timeline", "b"));
}

TEST_F(AnalysisHostTest, WhatDoesNotRunHasNoResult) {
  AnalysisHost host(two_, interner_);
  EXPECT_FALSE(host.result("heatmap", ""));
  EXPECT_TRUE(host.result("step_timeline", "never seen")) << "that of no events";
}

TEST_F(AnalysisHostTest, ASpecMustFitTheMethods) {
  EXPECT_THROW(make_spec<StepSum>({.name = "step_sum", .summary = "A test"}), std::logic_error);
}

TEST_F(AnalysisHostTest, AsksForEventsOfTheHostWhereOneReadsThem) {
  EXPECT_FALSE(AnalysisHost(two_, interner_).wants_host_events());
  two_.push_back(find_analysis("frequent_kernel_sequences"));
  EXPECT_TRUE(AnalysisHost(two_, interner_).wants_host_events());
}

TEST_F(AnalysisHostTest, OnlyWhatTouchesTheChosenInterval) {
  AnalysisHost host({find_analysis("step_timeline")}, interner_);
  AnalysisHost same({find_analysis("step_timeline")}, interner_);
  const auto at = [](double seconds) {
    return Time{std::chrono::milliseconds(std::lround(seconds * 1e3))};
  };
  host.select({at(3.1), at(5)});  // step 3 ends at 3.1, step 5 begins at 5
  for (std::int64_t i = 0; i < 10; ++i) push(host, step("a", i));
  for (std::int64_t i = 3; i <= 5; ++i) push(same, step("a", i));
  EXPECT_EQ(result(host, "step_timeline", "a"), result(same, "step_timeline", "a"));
}

TEST_F(AnalysisHostTest, GoesOnWhereItWasSaved) {
  AnalysisHost straight(two_, interner_);
  AnalysisHost before(two_, interner_);
  for (std::int64_t i = 0; i < 10; ++i) {
    push(straight, step("a", i));
    push(before, step("a", i));
  }
  StateRows rows;
  before.save(rows, false);
  AnalysisHost after(two_, interner_);
  after.load(stored(rows));
  push(straight, step("a", 10));
  push(after, step("a", 10));
  for (const AnalysisSpec* spec : two_) {
    EXPECT_EQ(result(straight, spec->name, "a"), result(after, spec->name, "a")) << spec->name;
  }
  StateRows unchanged;
  before.save(unchanged, false);
  EXPECT_TRUE(unchanged.changed().empty());
}

TEST_F(AnalysisHostTest, ACommitWritesTheEventsAndNotTheState) {
  AnalysisHost straight(two_, interner_);
  AnalysisHost stored_often(two_, interner_);
  StoredRows store;
  std::size_t most_written = 0;
  for (std::int64_t i = 0; i < 3000; ++i) {
    push(straight, step("a", i));
    push(stored_often, step("a", i));
    StateRows rows;
    stored_often.save(rows, i == 2000);
    if (i > 2000) most_written = std::max(most_written, bytes_of(rows));
    keep(rows, store);
  }
  EXPECT_LT(most_written, 200U);
  AnalysisHost after(two_, interner_);
  after.load(store);
  for (const AnalysisSpec* spec : two_) {
    EXPECT_EQ(result(straight, spec->name, "a"), result(after, spec->name, "a")) << spec->name;
  }
  StateRows rows;
  after.save(rows, false);
  keep(rows, store);
  EXPECT_EQ(store.size(), 2U) << "stored whole, without a log";
}

TEST_F(AnalysisHostTest, ALongLogEndsInTheWholeState) {
  AnalysisHost host(two_, interner_);
  StoredRows store;
  std::size_t longest = 0;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    push(host, step("a", i));
    if (i % 100 != 0) continue;
    StateRows rows;
    host.save(rows, false);
    keep(rows, store);
    longest = std::max(longest, store.size());
  }
  EXPECT_LT(longest, EventJournal::kFewestEvents / 100 + 4);
  StateRows last;
  host.save(last, false);
  keep(last, store);
  AnalysisHost after(two_, interner_);
  after.load(store);
  EXPECT_EQ(result(host, "step_statistics", "a"), result(after, "step_statistics", "a"));
}

// With thousands of nodes the state takes tens of megabytes, and each second brings more events
// than the shortest log holds.
TEST_F(AnalysisHostTest, ALargeStateIsNotStoredMoreOftenThanItsSizeInEvents) {
  AnalysisHost host({find_analysis("step_timeline")}, interner_);
  constexpr int kJobs = 500;
  for (std::int64_t i = 0; i < 100; ++i) {
    for (int job = 0; job < kJobs; ++job) push(host, step("job-" + std::to_string(job), i));
  }
  StateRows first;
  host.save(first, true);
  ASSERT_GT(bytes_of(first), 2 * EventJournal::kFewestEvents * EventJournal::kEventBytes);
  int whole = 0;
  for (std::int64_t i = 100; i < 200; ++i) {
    for (int job = 0; job < kJobs; ++job) push(host, step("job-" + std::to_string(job), i));
    StateRows rows;
    host.save(rows, false);
    if (is_whole(rows)) ++whole;
  }
  EXPECT_LE(whole, 1);
}

TEST_F(AnalysisHostTest, MoreEventsThanTheLogHoldsInOneCommit) {
  AnalysisHost before(two_, interner_);
  for (std::int64_t i = 0; i < 100'000; ++i) push(before, step("a", i));
  StateRows rows;
  before.save(rows, false);
  AnalysisHost after(two_, interner_);
  after.load(stored(rows));
  for (const AnalysisSpec* spec : two_) {
    EXPECT_EQ(result(before, spec->name, "a"), result(after, spec->name, "a")) << spec->name;
  }
}

TEST_F(AnalysisHostTest, AfterMoreEventsThanTheLogHoldsTheNextOnesAreNotLogged) {
  AnalysisHost host({find_analysis("step_timeline")}, interner_);
  constexpr std::int64_t kMany = EventJournal::kMostUnsaved;
  StoredRows store;
  std::vector<bool> whole;
  const std::vector<std::int64_t> between_commits = {kMany, 10, 10, kMany - 1, 10};
  std::int64_t i = 0;
  for (const std::int64_t events : between_commits) {
    for (const std::int64_t end = i + events; i < end; ++i) push(host, step("a", i));
    StateRows rows;
    host.save(rows, false);
    whole.push_back(is_whole(rows));
    keep(rows, store);
    AnalysisHost after({find_analysis("step_timeline")}, interner_);
    after.load(store);
    ASSERT_EQ(result(host, "step_timeline", "a"), result(after, "step_timeline", "a"));
  }
  EXPECT_EQ(whole, (std::vector<bool>{true, true, false, true, false}));
}

TEST_F(AnalysisHostTest, ADamagedLogBeginsAllAnew) {
  AnalysisHost before(two_, interner_);
  push(before, step("a", 1));
  StateRows rows;
  before.save(rows, false);
  StoredRows damaged = stored(rows);
  damaged.begin()->second.pop_back();
  AnalysisHost after(two_, interner_);
  after.load(damaged);
  EXPECT_TRUE(after.jobs().empty());
  push(after, step("a", 2));
}

TEST_F(AnalysisHostTest, ADamagedRowCostsOneAnalysis) {
  AnalysisHost before(two_, interner_);
  push(before, step("a", 1));
  StateRows rows;
  before.save(rows, true);
  StoredRows damaged = stored(rows);
  ASSERT_EQ(damaged.size(), 2);
  damaged.begin()->second.pop_back();
  AnalysisHost after(two_, interner_);
  after.load(damaged);
  EXPECT_NE(result(before, "step_statistics", "a"), result(after, "step_statistics", "a"));
  EXPECT_EQ(result(before, "step_timeline", "a"), result(after, "step_timeline", "a"));
  push(after, step("a", 2));
}

// Catalogue case 66: more series than the histograms of each have room for.
TEST_F(AnalysisHostTest, AnAnalysisThatTakesTooMuchMemoryIsStopped) {
  const AnalysisList both = {find_analysis("metrics_histogram"), find_analysis("job_statistics")};
  AnalysisHost host(both, interner_);
  StoredRows store;
  const auto sample_of = [&](SubjectId node, int number) {
    const Symbol name = interner_.symbols.intern("cpu" + std::to_string(number));
    Sample made;
    made.at = Time{std::chrono::seconds(number)};
    made.resource = Resource::cpu_utilization;
    made.series =
        interner_.series.intern({node, made.resource, 0, Symbol::none, name, Symbol::none}).value();
    made.value = 50;
    push(host, made);
  };
  const auto sample = [&](int number) {
    sample_of(interner_.subjects.intern({"a", "algo-1", kNoRank, ""}).value(), number);
  };
  const auto save = [&] {
    StateRows rows;
    host.save(rows, true);
    keep(rows, store);
  };
  const SubjectId other = interner_.subjects.intern({"b", "algo-1", kNoRank, ""}).value();
  sample_of(other, 0);
  for (int number = 0; host.stopped().empty() && number < 30'000; ++number) {
    sample(number);
    if (number % 1000 == 0) save();
  }
  EXPECT_THAT(host.stopped(), testing::ElementsAre("metrics_histogram"));
  EXPECT_EQ(result(host, "metrics_histogram", "a"), "");
  EXPECT_TRUE(host.is_stopped("metrics_histogram", "a"));
  EXPECT_FALSE(host.is_stopped("metrics_histogram", "b"));
  EXPECT_NE(result(host, "metrics_histogram", "b"), "") << "another job keeps it";
  EXPECT_NE(result(host, "job_statistics", "a"), "");
  sample(30'000);
  save();
  std::size_t bytes = 0;
  for (const auto& [key, value] : store) bytes += value.size();
  EXPECT_LT(bytes, 2'000'000U) << "its state has left the store";

  AnalysisHost after(both, interner_);
  after.load(store);
  EXPECT_THAT(after.stopped(), testing::ElementsAre("metrics_histogram"));
  EXPECT_EQ(result(after, "metrics_histogram", "a"), "");
  EXPECT_EQ(result(after, "metrics_histogram", "b"), result(host, "metrics_histogram", "b"));
  EXPECT_EQ(result(after, "job_statistics", "a"), result(host, "job_statistics", "a"));
}

TEST_F(AnalysisHostTest, ManyRanksShareTheWindows) {
  AnalysisHost host({find_analysis("step_timeline")}, interner_);
  const auto steps_of = [&] {
    const std::string text = result(host, "step_timeline", "a");
    return static_cast<std::size_t>(std::ranges::count(text, '[')) - 2;
  };
  Span span = step("a", 0);
  for (int rank = 0; rank < 300; ++rank) {
    span.subject = interner_.subjects.intern({"a", "algo-1", rank, ""}).value();
    for (int i = 0; i < 1000; ++i) {
      span.start = Time{std::chrono::seconds(i)};
      push(host, span);
    }
    if (rank > 0) continue;
    EXPECT_EQ(steps_of(), 1000U);
  }
  EXPECT_EQ(steps_of(), 300U * (65'536 / 512));
}

}  // namespace trainwatch::analysis_host_test

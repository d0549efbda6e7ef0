// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "pipeline/analysis/history/history_json.h"

namespace trainwatch::history_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::DoubleNear;
using testing::Each;

constexpr std::int64_t kStart = 1'700'000'000;  // second

class HistoryTest : public testing::Test {
 protected:
  SubjectId rank(std::int32_t number, const std::string& job = "job") {
    return interner_.subjects.intern({job, "algo-1", number, ""}).value();
  }
  Step step(SubjectId rank, std::int64_t end_ms, std::int64_t lasts_ms = 100) const {
    Step made;
    made.subject = rank;
    made.mode = Mode::train;
    made.duration = milliseconds(lasts_ms * 8 / 10);
    made.start = Time{seconds(kStart) + milliseconds(end_ms)} - made.duration;
    made.begin = made.end() - milliseconds(lasts_ms);
    made.data_wait = milliseconds(lasts_ms / 10);
    made.forward = milliseconds(lasts_ms / 4);
    made.number = end_ms / 100;
    return made;
  }
  void steps(SubjectId rank, int count, std::int64_t from_ms = 0) {
    for (int i = 1; i <= count; ++i) history_.on(step(rank, from_ms + i * 100));
  }
  const JobHistory& job() const { return history_.jobs().begin()->second; }
  ChartRange range(std::int64_t from_s, std::int64_t to_s, std::size_t columns) const {
    return {Time{seconds(kStart + from_s)}, Time{seconds(kStart + to_s)}, columns};
  }

  simdjson::dom::element parsed(const std::string& json) {
    simdjson::dom::element document;
    EXPECT_EQ(parser_.parse(json).get(document), simdjson::SUCCESS) << json;
    return document;
  }
  static std::vector<double> numbers(simdjson::simdjson_result<simdjson::dom::element> of) {
    std::vector<double> found;
    for (const simdjson::dom::element each : of.get_array()) {
      found.push_back(each.is_null() ? -1 : double(each));
    }
    return found;
  }
  static double sum(const std::vector<double>& of) {
    double total = 0;
    for (const double each : of) total += each;
    return total;
  }

  Interner interner_;
  History history_{interner_};
  simdjson::dom::parser parser_;
};

TEST_F(HistoryTest, NothingIsAnEmptyChart) {
  const JobHistory nothing;
  const auto chart = parsed(steps_json("", nothing, {}));
  EXPECT_TRUE(numbers(chart["columns"]["t_us"]).empty());
  EXPECT_TRUE(chart["from_us"].is_null());
  EXPECT_EQ(std::uint64_t(parsed(rank_map_json("", nothing, interner_, {}))["columns"]), 0);
  EXPECT_EQ(parsed(step_histogram_json("", nothing, {}))["groups"].get_array().size(), 0);
}

TEST_F(HistoryTest, EveryIterationIsInOneColumn) {
  steps(rank(0), 1000);
  for (const std::size_t columns : {1, 7, 100, 500, 2000}) {
    const auto chart = parsed(steps_json("job", job(), {.columns = columns}));
    EXPECT_EQ(sum(numbers(chart["columns"]["steps"])), 1000) << columns;
    EXPECT_LE(numbers(chart["columns"]["t_us"]).size(), columns + 1) << columns;
  }
}

TEST_F(HistoryTest, QuantilesAreOfTheColumn) {
  for (int i = 0; i < 100; ++i) history_.on(step(rank(0), 1000 + i, i < 96 ? 100 : 1000));
  const auto columns = parsed(steps_json("job", job(), {.columns = 1}))["columns"];
  EXPECT_NEAR(numbers(columns["p50"])[0], 0.1, 0.002);
  EXPECT_NEAR(numbers(columns["p99"])[0], 1.0, 0.02);
  EXPECT_NEAR(numbers(columns["min"])[0], 0.1, 1e-6);
  EXPECT_NEAR(numbers(columns["max"])[0], 1.0, 1e-6);
}

TEST_F(HistoryTest, ThePartsAddUpToTheIteration) {
  steps(rank(0), 50);
  const auto columns = parsed(steps_json("job", job(), {.columns = 1}))["columns"];
  double total = 0;
  for (const char* part : {"data_wait", "forward", "other", "between"}) {
    total += numbers(columns["phases"][part])[0];
  }
  EXPECT_NEAR(total, 0.1, 1e-9);
  simdjson::dom::element absent;
  EXPECT_NE(columns["phases"]["backward"].get(absent), simdjson::SUCCESS) << "nobody writes it";
}

TEST_F(HistoryTest, SingleStepsAreShownAsFineAsAsked) {
  steps(rank(0), 100);
  const auto chart = parsed(steps_json("job", job(), range(2, 4, 20)));
  EXPECT_EQ(std::int64_t(chart["width_us"]), 100'000);
  EXPECT_EQ(numbers(chart["columns"]["t_us"]).size(), 20);
}

TEST_F(HistoryTest, AJobOfSomeMinutesIsShownBySecond) {
  for (int second = 0; second < 900; ++second) steps(rank(0), 5, second * 1000);
  const auto chart = parsed(steps_json("job", job(), {.columns = 1000}));
  EXPECT_EQ(std::int64_t(chart["width_us"]), 1'000'000);
  EXPECT_EQ(sum(numbers(chart["columns"]["steps"])), 900 * 5);
}

TEST_F(HistoryTest, ALongJobIsShownWhole) {
  for (int minute = 0; minute < 60 * 24; ++minute) steps(rank(0), 3, minute * 60'000);
  const auto chart = parsed(steps_json("job", job(), {.columns = 500}));
  EXPECT_EQ(sum(numbers(chart["columns"]["steps"])), 3 * 60 * 24);
  EXPECT_LE(numbers(chart["columns"]["t_us"]).size(), 501);
  const auto recent = parsed(steps_json("job", job(), range(86'000, 86'400, 400)));
  EXPECT_EQ(std::int64_t(recent["width_us"]), 1'000'000) << "the last minutes are known by second";
}

TEST_F(HistoryTest, WhatARankLostIsAShareOfItsTime) {
  steps(rank(0), 100);
  for (int i = 0; i < 100; ++i)
    history_.on(LostInterval{rank(0), Time{seconds(kStart)} + milliseconds(100 * (i + 1)), 0.025});
  const auto map = parsed(rank_map_json("job", job(), interner_, {.columns = 1}));
  EXPECT_NEAR(numbers(map["rows"].at(0)["lost"])[0], 0.25, 0.01);
}

// The wait of a step that has not ended yet.
TEST_F(HistoryTest, AColumnHasAnIteration) {
  for (int second = 0; second < 3000; ++second) steps(rank(0), 1, second * 1000);
  Span wait;
  wait.subject = rank(0);
  wait.kind = SpanKind::data_wait;
  wait.start = Time{seconds(kStart + 3002)};
  wait.duration = milliseconds(100);
  history_.on(wait);
  const auto columns = parsed(steps_json("job", job(), {.columns = 1000}))["columns"];
  EXPECT_THAT(numbers(columns["steps"]), Each(testing::Ge(1)));
  EXPECT_THAT(numbers(columns["p50"]), Each(testing::Gt(0)));
}

TEST_F(HistoryTest, EachRankHasARow) {
  steps(rank(2), 30);
  steps(rank(0), 30);
  history_.on(step(rank(2), 10'000, 500));
  const auto map = parsed(rank_map_json("job", job(), interner_, {.columns = 20}));
  ASSERT_EQ(map["rows"].get_array().size(), 2);
  EXPECT_EQ(std::int64_t(map["rows"].at(0)["rank"]), 0);
  EXPECT_EQ(std::int64_t(map["rows"].at(1)["rank"]), 2);
  const auto slow = numbers(map["rows"].at(1)["values"]);
  EXPECT_EQ(slow.size(), std::uint64_t(map["columns"]));
  EXPECT_NEAR(slow.front(), 0.1, 1e-6);
  EXPECT_NEAR(slow.back(), 0.5, 1e-6);
  EXPECT_EQ(slow[5], -1) << "no iteration ended then";
}

TEST_F(HistoryTest, EachCoreAndGpuHasARow) {
  const SubjectId node = interner_.subjects.intern({"job", "algo-1", kNoRank, ""}).value();
  const auto series = [&](Resource resource, const char* name, std::uint32_t device) {
    return interner_.series
        .intern({node, resource, device, Symbol::none, interner_.symbols.intern(name),
                 interner_.symbols.intern("d")})
        .value();
  };
  const SeriesId gpu = series(Resource::gpu_utilization, "gpu0", 0);
  const SeriesId core = series(Resource::cpu_utilization, "cpu1", 1);
  for (int i = 0; i < 20; ++i) {
    const Time at{seconds(kStart + i)};
    history_.on(Sample{at, 80, gpu, Resource::gpu_utilization});
    history_.on(Sample{at, i < 10 ? 0.0 : 100.0, core, Resource::cpu_utilization});
    history_.on(Sample{at, std::nan(""), core, Resource::cpu_utilization});
  }
  const auto map = parsed(usage_map_json("job", job(), interner_, {.columns = 2}));
  ASSERT_EQ(map["rows"].get_array().size(), 2);
  EXPECT_EQ(std::string_view(map["rows"].at(0)["device"]), "cpu1");
  EXPECT_EQ(numbers(map["rows"].at(0)["values"]).front(), 0);
  EXPECT_EQ(numbers(map["rows"].at(0)["values"]).back(), 100);
  EXPECT_EQ(numbers(map["rows"].at(1)["values"]).front(), 80);
  const auto histogram = parsed(usage_histogram_json("job", job()));
  EXPECT_EQ(numbers(histogram["groups"].at(0)["counts"]).front(), 10);
  EXPECT_EQ(numbers(histogram["groups"].at(0)["counts"]).back(), 10) << "100 % is in the last bin";
}

TEST_F(HistoryTest, TheHistogramCountsEveryIteration) {
  steps(rank(0), 500);
  history_.on(step(rank(0), 60'000, 3000));
  const auto histogram = parsed(step_histogram_json("job", job(), {}));
  EXPECT_EQ(sum(numbers(histogram["groups"].at(0)["counts"])), 501);
}

TEST_F(HistoryTest, StepsOfAProfilerDoNotCountTwice) {
  Step profiled = step(rank(0), 50);
  profiled.origin = Origin::profiler;
  history_.on(profiled);
  steps(rank(0), 10);
  history_.on(profiled);
  const auto chart = parsed(steps_json("job", job(), {}));
  EXPECT_EQ(sum(numbers(chart["columns"]["steps"])), 10);
}

TEST_F(HistoryTest, AnImpossibleTimeDoesNotLeaveTheJobOneColumn) {
  steps(rank(0), 100);
  history_.on(step(rank(0), -kStart * 1000 + 27'000));
  const auto chart = parsed(steps_json("job", job(), {}));
  EXPECT_EQ(sum(numbers(chart["columns"]["steps"])), 100);
  EXPECT_EQ(job().dropped(), 1);
}

TEST_F(HistoryTest, AnAttemptIsShownAlone) {
  for (const std::int64_t hours : {0, 2}) {  // seen as single steps, and as columns
    steps(rank(0), 100, hours * 3'600'000);
    for (int i = 1; i <= 50; ++i) {
      Step again = step(rank(0), hours * 3'600'000 + 20'000 + i * 100);
      again.attempt = static_cast<std::uint32_t>(hours + 2);
      history_.on(again);
    }
    ChartRange second;
    second.attempt = static_cast<std::uint32_t>(hours + 2);
    const auto chart = parsed(steps_json("job", job(), second));
    EXPECT_EQ(sum(numbers(chart["columns"]["steps"])), 50) << hours;
  }
}

TEST_F(HistoryTest, RanksMarkAnEvaluationOnce) {
  for (const std::int32_t number : {0, 1, 2}) {
    Step after = step(rank(number), 20'000 + number, 5000);
    after.evaluation = seconds(2);
    history_.on(after);
  }
  const auto marks = parsed(steps_json("job", job(), {}))["marks"];
  ASSERT_EQ(marks.get_array().size(), 1);
  EXPECT_EQ(std::string_view(marks.at(0)["kind"]), "evaluation");
}

TEST_F(HistoryTest, TheLastStepsComeOneByOne) {
  steps(rank(0), 30);
  const auto last = parsed(last_steps_json("job", job(), interner_, 5));
  ASSERT_EQ(last["rows"].get_array().size(), 5);
  EXPECT_EQ(std::int64_t(last["rows"].at(4).at(2)), 30);
}

TEST_F(HistoryTest, JobsAreBoundedAndTheSilentOneGoes) {
  for (std::size_t i = 0; i <= History::kMostJobs; ++i) {
    steps(rank(0, "job" + std::to_string(i)), 3, static_cast<std::int64_t>(i) * 1000);
  }
  EXPECT_EQ(history_.jobs().size(), History::kMostJobs);
  EXPECT_EQ(history_.jobs_dropped(), 1);
  EXPECT_EQ(interner_.subjects[history_.jobs().begin()->first].job, "job1");
}

// Stores what changed.
void commit(History& history, StoredRows& stored) {
  StateRows rows;
  history.save(rows, false);
  for (const auto& [key, value] : rows.changed()) {
    value ? static_cast<void>(stored[key] = *value) : static_cast<void>(stored.erase(key));
  }
}

// Each of these kinds alone makes a history that can be loaded.
TEST_F(HistoryTest, AJobWithoutStepsIsRestored) {
  Span span;
  span.start = Time{seconds(kStart)};
  span.duration = milliseconds(5);
  for (const SpanKind kind : {SpanKind::data_wait, SpanKind::checkpoint}) {
    span.kind = kind;
    span.subject = rank(0, "job" + std::to_string(static_cast<int>(kind)));
    history_.on(span);
  }
  history_.on(LostInterval{rank(0, "lost"), span.start, 1});
  StoredRows stored;
  commit(history_, stored);
  History loaded(interner_);
  ASSERT_TRUE(loaded.load(stored));
  EXPECT_EQ(loaded.jobs().size(), 3);
}

TEST_F(HistoryTest, ARestartLosesNothing) {
  StoredRows stored;
  for (std::size_t i = 0; i <= History::kMostJobs; ++i) {
    for (int part = 0; part < 3; ++part) {
      const auto at = static_cast<std::int64_t>(i * 100'000) + part * 30'000;
      steps(rank(0, "job" + std::to_string(i)), 40, at);
      commit(history_, stored);
    }
  }
  History loaded(interner_);
  ASSERT_TRUE(loaded.load(stored));
  ASSERT_EQ(loaded.jobs().size(), history_.jobs().size());
  for (const auto& [job, kept] : history_.jobs()) {
    const JobHistory& other = loaded.jobs().at(job);
    EXPECT_EQ(steps_json("", other, {}), steps_json("", kept, {}));
    EXPECT_EQ(last_steps_json("", other, interner_, 1000),
              last_steps_json("", kept, interner_, 1000));
    EXPECT_EQ(rank_map_json("", other, interner_, {}), rank_map_json("", kept, interner_, {}));
  }
}

}  // namespace trainwatch::history_test

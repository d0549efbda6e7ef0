// SPDX-License-Identifier: Apache-2.0
// The metrics about the training job, family by family. Metrics of a new kind: copy a test and
// change it.
#include "pipeline/analysis/core/training_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/saved_state.h"

namespace trainwatch::training_metrics_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TrainingMetricsTest : public testing::Test {
 protected:
  SubjectId rank(std::int32_t number) {
    return interner_.subjects.intern({"", "node", number, ""}).value();
  }
  Span span(SpanKind kind, Nanos duration, std::int32_t of_rank = 0) {
    Span made;
    made.kind = kind;
    made.duration = duration;
    made.subject = rank(of_rank);
    return made;
  }
  Step step(std::int64_t number, Origin origin = Origin::timeline) {
    Step made;
    made.start = Time{seconds(number)};
    made.duration = milliseconds(400);
    made.number = number;
    made.mode = Mode::train;
    made.origin = origin;
    made.subject = rank(0);
    return made;
  }
  static MetricFamily family(const TrainingMetrics& metrics, const std::string& name) {
    std::vector<MetricFamily> all;
    metrics.collect({}, all);
    const auto found = std::ranges::find(all, "trainwatch_" + name, &MetricFamily::name);
    return found == all.end() ? MetricFamily{} : *found;
  }
  // Of the series with this label; -1: there is none.
  double value(const std::string& name, const std::string& label, const std::string& text) const {
    for (const MetricPoint& point : family(metrics_, name).points) {
      if (std::ranges::count(point.labels, Labels::Label(label, text)) > 0) return point.value;
    }
    return -1;
  }
  // How many values the only histogram of a family has seen.
  std::uint64_t count(const std::string& name) const {
    const auto points = family(metrics_, name).points;
    if (points.size() != 1) return 0;
    std::uint64_t sum = 0;
    for (const HistogramCell& cell : points[0].details->cells) sum += cell.count;
    return sum;
  }

  Interner interner_;
  TrainingMetrics metrics_{interner_};
};

TEST_F(TrainingMetricsTest, StepsByMode) {
  metrics_.on(step(1));
  metrics_.on(step(2));
  EXPECT_EQ(value("steps_total", "mode", "train"), 2);
  EXPECT_DOUBLE_EQ(value("last_step_timestamp_seconds", "mode", "train"), 2.4);
  EXPECT_EQ(count("step_duration_seconds"), 2U);
  EXPECT_EQ(count("batch_time_seconds"), 1U) << "from the first to the second";
}

TEST_F(TrainingMetricsTest, StepsOfAProfilerCountOnlyWhereNobodyElseReportsThem) {
  metrics_.on(step(1, Origin::profiler));
  metrics_.on(step(2));
  metrics_.on(step(2, Origin::profiler));
  EXPECT_EQ(value("steps_total", "mode", "train"), 2);
}

TEST_F(TrainingMetricsTest, ATimelineOfAnotherJobDoesNotHideTheStepsOfAProfiler) {
  metrics_.on(step(1));
  Step other = step(1, Origin::profiler);
  other.subject = interner_.subjects.intern({"other", "node", 0, ""}).value();
  metrics_.on(other);
  EXPECT_EQ(value("steps_total", "train_job", "other"), 1);
}

TEST_F(TrainingMetricsTest, PhasesAndWaits) {
  metrics_.on(span(SpanKind::forward, milliseconds(30)));
  metrics_.on(span(SpanKind::other, milliseconds(30)));
  EXPECT_EQ(count("step_phase_seconds"), 1U);
  metrics_.on(span(SpanKind::data_wait, milliseconds(30)));
  EXPECT_EQ(count("getnext_duration_seconds"), 1U);
}

TEST_F(TrainingMetricsTest, AFullFamilyCountsWhatItLeavesOut) {
  const auto limit = static_cast<std::int32_t>(kMaxSeries);
  for (int round = 0; round < 2; ++round) {
    for (std::int32_t of_rank = 0; of_rank < limit + 3; ++of_rank) {
      metrics_.on(span(SpanKind::forward, milliseconds(1), of_rank));
    }
  }
  EXPECT_EQ(metrics_.series_dropped(), 3U);
  const auto points = family(metrics_, "step_phase_seconds").points;
  ASSERT_EQ(points.size(), kMaxSeries + 1);
  EXPECT_EQ((*points.back().labels.begin()), Labels::Label("train_job", "__other__"));
  EXPECT_EQ(points.back().details->cells.at(0).count, 6U) << "the others together";
}

TEST_F(TrainingMetricsTest, ExemplarsNameTheStepAndItsAlert) {
  Alert alert;
  alert.id = "a1";
  alert.subject = interner_.subjects[rank(0)];
  alert.verdict.step = 2;
  MetricsView view;
  view.alerted.add(alert);
  metrics_.on(step(1));
  Step slow = step(2);
  slow.duration = seconds(3);
  metrics_.on(slow);
  std::vector<MetricFamily> all;
  metrics_.collect(view, all);
  const auto& exemplars = all.at(0).points.at(0).details->exemplars;
  ASSERT_EQ(exemplars.size(), 2U);
  EXPECT_EQ(exemplars[0].step, 1);
  EXPECT_EQ(exemplars[0].alert, "");
  EXPECT_EQ(exemplars[1].step, 2);
  EXPECT_EQ(exemplars[1].value, 3);
  EXPECT_EQ(exemplars[1].at, slow.end());
  EXPECT_EQ(exemplars[1].alert, "a1");
}

// Of the alerts about a step, those of the rank, its node or its job.
TEST_F(TrainingMetricsTest, TheLatestAlertAboutAStepIsFound) {
  const auto alert = [](std::string id, Subject subject, std::int64_t step) {
    Alert made;
    made.id = std::move(id);
    made.subject = std::move(subject);
    made.verdict.step = step;
    return made;
  };
  const std::vector<Alert> alerts = {
      alert("rank", {"job", "node", 0, ""}, 1),     alert("job", {"job", "", kNoRank, ""}, 1),
      alert("other job", {"b", "node", 0, ""}, 1),  alert("node", {"job", "node", kNoRank, ""}, 2),
      alert("rank again", {"job", "", 0, ""}, 2),   alert("other node", {"job", "n", 0, ""}, 3),
      alert("no step", {"job", "", 0, ""}, kNoStep)};
  AlertedSteps alerted;
  for (const Alert& each : alerts) alerted.add(each);
  const Subject rank{"job", "node", 0, ""};
  EXPECT_EQ(alerted.of(rank, 1), "job");
  EXPECT_EQ(alerted.of({"job", "node", 1, ""}, 1), "job");
  EXPECT_EQ(alerted.of(rank, 2), "rank again");
  EXPECT_EQ(alerted.of({"job", "node", 1, ""}, 2), "node");
  EXPECT_EQ(alerted.of(rank, 3), "");
  EXPECT_EQ(alerted.of(rank, kNoStep), "");
}

TEST_F(TrainingMetricsTest, SurvivesARestart) {
  metrics_.on(step(1));
  metrics_.on(span(SpanKind::forward, milliseconds(30)));
  EXPECT_EQ(test::put_rows(metrics_, false).size(), 2) << "the rank, and what is of no rank";
  EXPECT_TRUE(test::put_rows(metrics_, false).empty());
  const StoredRows rows = test::put_rows(metrics_);
  TrainingMetrics other(interner_);
  EXPECT_TRUE(other.load(rows));
  EXPECT_EQ(test::put_rows(other), rows);
}

}  // namespace trainwatch::training_metrics_test

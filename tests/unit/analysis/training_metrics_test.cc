// The metrics about the training job, family by family. Metrics of a new kind: copy a test and
// change it.
#include "pipeline/analysis/core/training_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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
  Sample sample(Resource resource, const std::string& device, double value) {
    Series series;
    series.subject = interner_.subjects.intern({"", "node", kNoRank, ""}).value();
    series.resource = resource;
    series.name = interner_.symbols.intern(device);
    return {Time{seconds(1)}, value, *interner_.series.intern(series), resource};
  }

  static MetricFamily family(const TrainingMetrics& metrics, const std::string& name) {
    std::vector<MetricFamily> all;
    metrics.collect(all);
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
    return points.size() == 1 ? points[0].cumulative.back() : 0;
  }

  Interner interner_;
  TrainingMetrics metrics_{interner_};
};

// What had no room on the page was once left out without a word.
TEST_F(TrainingMetricsTest, SystemSeriesWithoutRoomAreCounted) {
  const std::size_t most = TrainingMetrics::kMaxSeries;
  for (std::size_t i = 0; i < most + 7; ++i) {
    metrics_.on(sample(Resource::cpu_utilization, "cpu" + std::to_string(i), 50));
  }
  metrics_.on(sample(Resource::cpu_utilization, "cpu0", 60));
  EXPECT_EQ(family(metrics_, "system_utilization_ratio").points.size(), most);
  EXPECT_EQ(metrics_.series_dropped(), 7U);

  StateIo saving = StateIo::saving();
  metrics_.state(saving);
  const std::string saved = saving.take();
  TrainingMetrics loaded{interner_};
  StateIo loading = StateIo::loading(saved);
  loaded.state(loading);
  ASSERT_TRUE(loading.complete());
  EXPECT_EQ(loaded.series_dropped(), 7U);
  loaded.on(sample(Resource::cpu_utilization, "one more", 50));
  EXPECT_EQ(loaded.series_dropped(), 8U);
}

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

TEST_F(TrainingMetricsTest, PhasesAndWaits) {
  metrics_.on(span(SpanKind::forward, milliseconds(30)));
  metrics_.on(span(SpanKind::other, milliseconds(30)));
  EXPECT_EQ(count("step_phase_seconds"), 1U);
  metrics_.on(span(SpanKind::data_wait, milliseconds(30)));
  EXPECT_EQ(count("getnext_duration_seconds"), 1U);
}

TEST_F(TrainingMetricsTest, TheLastValueOfASystemSeries) {
  metrics_.on(sample(Resource::cpu_utilization, "cpu0", 10));
  metrics_.on(sample(Resource::cpu_utilization, "cpu0", 40));
  metrics_.on(sample(Resource::io_operations, "sda", 7));
  EXPECT_DOUBLE_EQ(value("system_utilization_ratio", "device", "cpu0"), 0.4);
  EXPECT_DOUBLE_EQ(value("disk_operations_per_second", "device", "sda"), 7);
}

TEST_F(TrainingMetricsTest, AFullFamilyCountsWhatItLeavesOut) {
  const auto limit = static_cast<std::int32_t>(TrainingMetrics::kMaxSeries);
  for (std::int32_t of_rank = 0; of_rank < limit + 3; ++of_rank) {
    metrics_.on(span(SpanKind::forward, milliseconds(1), of_rank));
  }
  EXPECT_EQ(family(metrics_, "step_phase_seconds").points.size(), TrainingMetrics::kMaxSeries);
  EXPECT_EQ(metrics_.series_dropped(), 3U);
}

TEST_F(TrainingMetricsTest, SurvivesARestart) {
  metrics_.on(step(1));
  metrics_.on(span(SpanKind::forward, milliseconds(30)));
  metrics_.on(sample(Resource::cpu_utilization, "cpu0", 10));
  StateIo out = StateIo::saving();
  metrics_.state(out);
  const std::string bytes = out.take();
  TrainingMetrics other(interner_);
  StateIo in = StateIo::loading(bytes);
  other.state(in);
  EXPECT_TRUE(in.complete());
  StateIo again = StateIo::saving();
  other.state(again);
  EXPECT_EQ(again.take(), bytes);
}

}  // namespace trainwatch::training_metrics_test

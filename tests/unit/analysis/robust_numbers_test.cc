// SPDX-License-Identifier: Apache-2.0
// Numbers at the edge of what a double or a counter holds do not spoil what is shown or explained.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/core/system_history.h"

namespace trainwatch::robust_numbers_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHuge = 1e308;

TEST(Histogram, CountsWhatIsFiniteAndItsSumStaysSo) {
  WaitHistogram histogram;
  for (const double seconds : {0.5, kNaN, kInfinity, -kInfinity, kHuge, kHuge, 0.5}) {
    histogram.observe(seconds);
  }
  EXPECT_EQ(histogram.count(), 3U) << "the second 1e308 would be too much";
  const MetricPoint point = histogram.point({}, WaitHistogram::bounds(Cardinality::normal));
  ASSERT_EQ(point.details->cells.size(), 2U) << "NaN is not the smallest value";
  EXPECT_EQ(point.details->cells[0].count, 2U);
  EXPECT_TRUE(std::isfinite(point.sum));
}

TEST(Histogram, CountsStopAtTheGreatest) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  StateIo saving = StateIo::saving();
  std::vector<HistogramCell> cells = {{kMost, -16, 8}, {kMost, 0, 9}};  // 0.5 s and 1 s
  auto schema = static_cast<std::int8_t>(exponential_buckets::kFinest);
  saving(cells);
  saving(schema);
  const std::string bytes = saving.take();
  HistogramCells histogram;
  StateIo loading = StateIo::loading(bytes);
  loading(histogram);
  ASSERT_TRUE(loading.complete());
  histogram.add(0.5, 8);
  EXPECT_EQ(histogram.cells()[0].count, kMost);
  EXPECT_EQ(histogram.count(), kMost);
}

TEST(SystemHistory, IsNotSpoiledByImpossibleValues) {
  Interner interner;
  const SubjectId node = interner.subjects.intern({"", "algo-1", kNoRank, ""}).value();
  Series series;
  series.subject = node;
  series.resource = Resource::cpu_utilization;
  const SeriesId cpu = *interner.series.intern(series);
  SystemHistory history(interner);
  const Time at{std::chrono::seconds(1700000000)};
  for (const double value : {20.0, kHuge, -kHuge, kInfinity, kNaN, 40.0}) {
    history.on(Sample{at, value, cpu, Resource::cpu_utilization});
  }
  const SystemUsage usage = history.usage(node, at, at);
  EXPECT_EQ(usage.cpu, 30.0);
  EXPECT_EQ(usage.busiest_core, 40.0);
}

}  // namespace trainwatch::robust_numbers_test

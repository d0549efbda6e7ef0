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
  Histogram histogram;
  for (const double seconds : {0.5, kNaN, kInfinity, -kInfinity, kHuge, kHuge, 0.5}) {
    histogram.observe(seconds);
  }
  const MetricPoint point = histogram.point({});
  EXPECT_EQ(point.cumulative.front(), 0U) << "NaN is not the smallest value";
  EXPECT_EQ(point.cumulative.back(), 3U) << "the second 1e308 would be too much";
  EXPECT_TRUE(std::isfinite(point.sum));
}

TEST(Histogram, CountsStopAtTheGreatest) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> words(Histogram::kBounds.size() + 3, kMost);
  words.end()[-1] = words.end()[-2] = 0;  // the sum
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()),
                               words.size() * sizeof words[0]);
  Histogram histogram;
  StateIo loading = StateIo::loading(bytes);
  loading(histogram);
  ASSERT_TRUE(loading.complete());
  histogram.observe(0.5);
  for (const std::uint64_t count : histogram.point({}).cumulative) EXPECT_EQ(count, kMost);
}

TEST(SystemHistory, IsNotSpoiledByImpossibleValues) {
  Interner interner;
  const SubjectId node = interner.subjects.intern({"", "algo-1", kNoRank, ""}).value();
  Series series;
  series.subject = node;
  series.resource = Resource::cpu_utilization;
  const SeriesId cpu = interner.series.add(series);
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

// Like TrainingMetricsTest.TheLastValueOfASystemSeries.
#include <gtest/gtest.h>

#include "pipeline/analysis/core/training_metrics.h"

namespace trainwatch {
namespace {

TEST(GpuPower, IsShown) {
  Interner interner;
  TrainingMetrics metrics(interner);
  Series series;
  series.resource = Resource::gpu_power;
  series.name = interner.symbols.intern("gpu0");
  metrics.on(Sample{Time{}, 312, *interner.series.intern(series), series.resource});
  std::vector<MetricFamily> families;
  metrics.collect(families);
  EXPECT_EQ(families.back().name, "trainwatch_gpu_power_watts");
  ASSERT_EQ(families.back().points.size(), 1U);
  EXPECT_EQ(families.back().points[0].value, 312);
}

}  // namespace
}  // namespace trainwatch

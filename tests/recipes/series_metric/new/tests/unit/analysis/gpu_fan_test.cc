// SPDX-License-Identifier: Apache-2.0
// Like LatestSamplesTest.TheLastValueOfASeriesInBaseUnits.
#include <gtest/gtest.h>

#include "pipeline/analysis/core/latest_samples.h"

namespace trainwatch {
namespace {

TEST(GpuFan, IsShown) {
  Interner interner;
  LatestSamples latest(interner);
  Series series;
  series.resource = Resource::gpu_fan;
  series.name = interner.symbols.intern("gpu0");
  latest.on(Sample{Time{}, 25, *interner.series.intern(series), series.resource});
  std::vector<MetricFamily> families;
  latest.collect({}, families);
  EXPECT_EQ(families.back().name, "trainwatch_system_gpu_fan_ratio");
  ASSERT_EQ(families.back().points.size(), 1U);
  EXPECT_EQ(families.back().points[0].value, 0.25);
}

}  // namespace
}  // namespace trainwatch

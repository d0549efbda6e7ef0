// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/analysis/core/training_metrics.h"

namespace trainwatch {
namespace {

TEST(Checkpoints, AreCountedByRank) {
  Interner interner;
  TrainingMetrics metrics(interner);
  Span span;
  span.kind = SpanKind::checkpoint;
  span.subject = interner.subjects.intern({"", "node", 3, ""}).value();
  metrics.on(span);
  metrics.on(span);
  std::vector<MetricFamily> families;
  metrics.collect({}, families);
  const auto total =
      std::ranges::find(families, "trainwatch_checkpoints_total", &MetricFamily::name);
  ASSERT_NE(total, families.end());
  ASSERT_EQ(total->points.size(), 1U);
  EXPECT_EQ(total->points[0].labels, (Labels{{"node", "node"}, {"rank", "3"}}));
  EXPECT_EQ(total->points[0].value, 2);
}

}  // namespace
}  // namespace trainwatch

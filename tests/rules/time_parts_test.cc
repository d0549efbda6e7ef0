// SPDX-License-Identifier: Apache-2.0
// What has grown when iterations take longer.
#include "rules/time_parts.h"

#include <gtest/gtest.h>

namespace trainwatch::time_parts_test {

using throughput_regression::Growth;
using throughput_regression::Parts;

// A second of a rank whose writer knows all phases.
constexpr Parts kUsual{.wait = 0.01,
                       .between = 0.02,
                       .outside = 0.01,
                       .forward = 0.3,
                       .backward = 0.6,
                       .optimizer = 0.06,
                       .total = 1};

TEST(TimeParts, LargerBatchesLeaveTheOptimizerAsItIs) {
  Parts now = kUsual;
  now.forward *= 1.2;
  now.backward *= 1.22;
  now.total = 1 + 0.06 + 0.132;
  EXPECT_TRUE(Growth(kUsual, now).is_of_batches());
  now.optimizer *= 1.2;
  EXPECT_FALSE(Growth(kUsual, now).is_of_batches());
}

TEST(TimeParts, ATraceMoreComputationIsNotWhyAllWaits) {
  Parts now = kUsual;
  now.forward *= 1.002;
  now.backward *= 1.002;
  now.optimizer *= 0.999;
  now.wait += 0.6;
  now.total = 1.6;
  EXPECT_FALSE(Growth(kUsual, now).is_of_batches());
}

}  // namespace trainwatch::time_parts_test

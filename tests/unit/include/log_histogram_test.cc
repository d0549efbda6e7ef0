// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/log_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace trainwatch::log_histogram_test {

TEST(LogBuckets, AreThoseOfTheLogarithm) {
  const LogBuckets& buckets = LogBuckets::get();
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(std::log(LogBuckets::kSmallest),
                                                  std::log(LogBuckets::kLargest));
  for (int i = 0; i < 1'000'000; ++i) {
    const double size =
        std::clamp(std::exp(exponent(random)), LogBuckets::kSmallest, LogBuckets::kLargest);
    ASSERT_EQ(buckets.of(size), LogBuckets::by_logarithm(size)) << size;
  }
}

TEST(LogBuckets, EndWhereTheLogarithmSays) {
  const LogBuckets& buckets = LogBuckets::get();
  const std::int32_t last = LogBuckets::by_logarithm(LogBuckets::kLargest);
  for (std::int32_t bucket = 1; bucket < last; ++bucket) {
    double size = LogBuckets::kSmallest * std::pow(LogBuckets::kRatio, bucket - 1);
    for (int i = 0; i < 8; ++i) size = std::nextafter(size, 0);
    for (int i = 0; i < 16; ++i) {
      size = std::nextafter(size, std::numeric_limits<double>::max());
      if (size < LogBuckets::kSmallest) continue;
      ASSERT_EQ(buckets.of(size), LogBuckets::by_logarithm(size)) << size;
    }
  }
  EXPECT_EQ(buckets.of(LogBuckets::kSmallest), 1);
  EXPECT_EQ(buckets.of(LogBuckets::kLargest), last);
}

}  // namespace trainwatch::log_histogram_test

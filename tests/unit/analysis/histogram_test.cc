// SPDX-License-Identifier: Apache-2.0
// What is kept of durations, and how exactly a 95th percentile follows from it at each level.
#include "pipeline/analysis/core/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace trainwatch::histogram_test {

namespace buckets = exponential_buckets;

TEST(ExponentialBuckets, ABucketHoldsItsUpperBound) {
  EXPECT_EQ(buckets::bucket_of(1), 0);
  EXPECT_EQ(buckets::bucket_of(std::nextafter(1, 2)), 1);
  EXPECT_EQ(buckets::bucket_of(2), 16);
  EXPECT_EQ(buckets::bucket_of(0.5), -16);
  EXPECT_EQ(buckets::bucket_of(0), buckets::kZero);
  EXPECT_EQ(buckets::bucket_of(-1), buckets::kZero);
  for (int bucket = -2000; bucket <= 2000; ++bucket) {
    const double upper = buckets::upper_bound(bucket);
    EXPECT_EQ(buckets::bucket_of(upper), bucket) << upper;
    EXPECT_NEAR(upper / std::exp2(bucket / 16.0), 1, 1e-15);
  }
}

TEST(ExponentialBuckets, TwoBucketsAreOneOfTheNextSchema) {
  for (const double value : {1e-9, 0.072, 0.5, 1.0, 1.5, 2.0, 3.0, 1e9}) {
    std::int16_t bucket = buckets::bucket_of(value);
    for (int schema = 3; schema >= buckets::kCoarsest; --schema) {
      bucket = buckets::coarser(bucket);
      const double width = std::ldexp(1.0, -schema);
      EXPECT_LE(value, std::exp2(bucket * width));
      EXPECT_GT(value, std::exp2((bucket - 1) * width));
    }
  }
}

TEST(HistogramCells, ResolutionFallsWhenTheyAreUsedUp) {
  HistogramCells cells;
  std::uint64_t added = 0;
  for (double value = 1e-6; value < 1e6; value *= 1.01, ++added) cells.add(value, 0);
  EXPECT_LE(cells.cells().size(), HistogramCells::kMostCells);
  EXPECT_EQ(cells.schema(), 2) << "40 octaves, four buckets each";
  EXPECT_EQ(cells.count(), added);
  for (int exponent = -300; exponent < 300; ++exponent) cells.add(std::pow(10, exponent), 0);
  EXPECT_LE(cells.cells().size(), HistogramCells::kMostCells);
}

TEST(HistogramCells, DamagedStateIsRefused) {
  const auto loads = [](std::vector<HistogramCell> cells, std::int8_t schema) {
    StateIo saving = StateIo::saving();
    saving(cells);
    saving(schema);
    const std::string bytes = saving.take();
    HistogramCells loaded;
    StateIo loading = StateIo::loading(bytes);
    loading(loaded);
    return loading.complete();
  };
  EXPECT_TRUE(loads({{1, 2, 3}, {1, 2, 4}, {1, 5, 4}}, 4));
  EXPECT_FALSE(loads({{1, 2, 3}, {1, 2, 3}}, 4)) << "twice";
  EXPECT_FALSE(loads({{1, 5, 4}, {1, 2, 3}}, 4)) << "descending";
  EXPECT_FALSE(loads({{1, 2, 4}, {1, 3, 3}}, 4)) << "a larger value in a lower bucket";
  EXPECT_FALSE(loads({{1, 2, 3}}, 5));
  EXPECT_FALSE(loads(std::vector<HistogramCell>(HistogramCells::kMostCells + 1), 4));
}

TEST(NotableObservations, TheLatestOfTheHighestBuckets) {
  NotableObservations notable;
  const auto saw = [&](std::int64_t second, std::uint64_t bucket) {
    notable.saw({static_cast<double>(bucket), Time{std::chrono::seconds(second)}, second, bucket});
  };
  const auto steps = [&] {
    std::vector<std::int64_t> found;
    for (const auto& each : notable.all()) found.push_back(each.step);
    std::ranges::sort(found);
    return found;
  };
  for (const std::uint64_t bucket : {1, 2, 3, 4, 5}) saw(static_cast<std::int64_t>(bucket), bucket);
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{2, 3, 4, 5})) << "the lowest gives way";
  saw(6, 1);
  saw(7, 5);
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{2, 3, 4, 7}));
  saw(400, 1);
  EXPECT_EQ(steps(), (std::vector<std::int64_t>{400})) << "the others are old";
}

// What Prometheus makes of classic buckets: linear within the bucket.
double quantile(const MetricFamily& family, const MetricDetails& details, double q) {
  double total = 0;
  for (const HistogramCell& cell : details.cells) total += static_cast<double>(cell.count);
  double before = 0;
  for (std::size_t bucket = 0; bucket < family.bounds.size(); ++bucket) {
    double in = 0;
    for (const HistogramCell& cell : details.cells) {
      if (cell.bucket == bucket) in += static_cast<double>(cell.count);
    }
    if (before + in >= q * total) {
      const double lower = bucket == 0 ? 0 : family.bounds[bucket - 1];
      return lower + (family.bounds[bucket] - lower) * (q * total - before) / in;
    }
    before += in;
  }
  return family.bounds.back();
}

// The largest relative error of p95 over many distributions around `middle`.
double worst_error(Cardinality cardinality) {
  std::mt19937 random(1);
  double worst = 0;
  for (const double middle : {0.013, 0.072, 0.09, 0.31, 1.1, 4.2}) {
    for (const double spread : {0.0, 0.01, 0.1, 0.5}) {
      DurationHistogram histogram;
      std::vector<double> values;
      std::lognormal_distribution<double> around(std::log(middle), spread);
      for (int i = 0; i < 2000; ++i) values.push_back(spread > 0 ? around(random) : middle);
      for (const double value : values) histogram.observe(value);
      std::ranges::sort(values);
      const double truth = values[static_cast<std::size_t>(0.95 * 2000) - 1];
      const HistogramBounds bounds = DurationHistogram::bounds(cardinality);
      const double estimate =
          quantile(bounds.family("x_seconds", ""), *histogram.point({}, bounds).details, 0.95);
      worst = std::max(worst, std::fabs(estimate / truth - 1));
    }
  }
  return worst;
}

TEST(Histogram, PercentilesAreAsExactAsTheDocumentSays) {
  EXPECT_LT(worst_error(Cardinality::full), 0.05);
  EXPECT_LT(worst_error(Cardinality::normal), 0.27);
  EXPECT_GT(worst_error(Cardinality::normal), 0.05);
  EXPECT_LT(worst_error(Cardinality::low), 1.5);
}

TEST(Histogram, LowHasEveryBoundOfTheOldKindAndCountsTheSame) {
  DurationHistogram histogram;
  for (const double value : {0.0011, 0.072, 0.09, 0.31, 700.0}) histogram.observe(value);
  const HistogramBounds bounds = DurationHistogram::bounds(Cardinality::low);
  const MetricFamily family = bounds.family("x_seconds", "");
  EXPECT_EQ(family.bounds, std::vector<double>(kWaitBounds.begin(), kWaitBounds.end()));
  const auto details = histogram.point({}, bounds).details;
  ASSERT_EQ(details->cells.size(), 5U);
  EXPECT_EQ(family.bounds[details->cells[1].bucket], 0.1);
  EXPECT_EQ(family.bounds[details->cells[2].bucket], 0.1);
  EXPECT_EQ(details->cells[4].bucket, family.bounds.size()) << "+Inf";
}

TEST(Histogram, SurvivesARestart) {
  DurationHistogram histogram;
  histogram.observe(0.072, 7, Time{std::chrono::seconds(1)});
  histogram.observe(0);
  StateIo saving = StateIo::saving();
  histogram.state(saving);
  const std::string bytes = saving.take();
  DurationHistogram loaded;
  StateIo loading = StateIo::loading(bytes);
  loaded.state(loading);
  ASSERT_TRUE(loading.complete());
  StateIo again = StateIo::saving();
  loaded.state(again);
  EXPECT_EQ(again.take(), bytes);
}

}  // namespace trainwatch::histogram_test

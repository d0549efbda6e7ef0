// SPDX-License-Identifier: Apache-2.0
// The rolling statistics against implementations that sort everything, on random data.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/saved_state.h"
#include "trainwatch/stats/median.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::rolling_stats_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double naive_quantile(std::deque<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double h = static_cast<double>(values.size() - 1) * q;
  const auto low = static_cast<std::size_t>(std::floor(h));
  const auto high = static_cast<std::size_t>(std::ceil(h));
  return values[low] + (values[high] - values[low]) * (h - std::floor(h));
}
double naive_mad(std::deque<double> values) {
  const double median = naive_quantile(values, 0.5);
  for (double& value : values) value = std::fabs(value - median);
  return naive_quantile(values, 0.5);
}

// Values of several natures: continuous, with many ties, drifting, with huge outliers.
class RollingStats : public testing::TestWithParam<std::tuple<int, std::size_t>> {
 protected:
  double next(int i) {
    switch (std::get<0>(GetParam())) {
      case 0:
        return std::lognormal_distribution<>(0, 1)(random_);
      case 1:
        return std::uniform_int_distribution<>(-3, 3)(random_);
      case 2:
        return i + std::normal_distribution<>()(random_);
      default:
        return i % 7 == 0 ? 1e12 : std::normal_distribution<>()(random_);
    }
  }
  std::size_t window() const { return std::get<1>(GetParam()); }

  std::mt19937_64 random_{20261121};
};

TEST_P(RollingStats, EqualsSortingEverything) {
  SortedWindow sorted(window());
  RollingMedianMad robust(window());
  std::deque<double> naive;
  double first = 0;
  for (int i = 0; i < 1500; ++i) {
    const double value = next(i);
    if (i == 0) first = value;
    const bool full = naive.size() == window();
    ASSERT_EQ(sorted.leaving(), full ? std::optional(naive.front()) : std::nullopt);
    ASSERT_TRUE(sorted.push(value));
    ASSERT_TRUE(robust.push(value));
    naive.push_back(value);
    if (naive.size() > window()) naive.pop_front();
    ASSERT_TRUE(std::is_sorted(sorted.sorted().begin(), sorted.sorted().end()));
    for (const double q : {0.0, 0.05, 0.25, 0.5, 0.731, 0.95, 1.0}) {
      const double expected = naive_quantile(naive, q);
      ASSERT_NEAR(sorted.quantile(q), expected, 1e-12 * (1 + std::fabs(expected))) << i << " " << q;
    }
    // Relative to their distance from the first value, its values have 24 bits.
    const double distance =
        1 + std::fabs(sorted.quantile(0) - first) + std::fabs(sorted.quantile(1) - first);
    const double tolerance = std::ldexp(distance, -24);
    ASSERT_NEAR(robust.median(), sorted.median(), tolerance) << i;
    ASSERT_NEAR(robust.largest(), sorted.quantile(1), tolerance) << i;
    ASSERT_NEAR(robust.mad(), naive_mad(naive), 2 * tolerance) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Data, RollingStats,
                         testing::Combine(testing::Range(0, 4),
                                          testing::Values(1U, 2U, 3U, 10U, 99U, 100U)));

// The values numpy documents for method="linear": 1 + 0.2, 4 + 0.8 x 4, 8 + 0.8 x 8.5.
TEST(MedianIn, EqualsSortingWithAnyNumberOfValuesAndTies) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    const auto size = std::uniform_int_distribution<std::size_t>(1, 40)(random);
    std::uniform_int_distribution<int> value(-3, i % 2 == 0 ? 3 : 1000);
    std::vector<double> values(size);
    for (double& one : values) one = value(random) / 8.0;
    const double expected = naive_quantile({values.begin(), values.end()}, 0.5);
    ASSERT_EQ(median_in(values), expected) << size;
  }
}

TEST(SortedWindow, QuantilesInterpolateLinearly) {
  SortedWindow window(5);
  for (const double value : {16.5, 1.0, 8.0, 2.0, 4.0}) window.push(value);
  EXPECT_DOUBLE_EQ(window.quantile(0.05), 1.2);
  EXPECT_DOUBLE_EQ(window.quantile(0.5), 4);
  EXPECT_DOUBLE_EQ(window.quantile(0.7), 7.2);
  EXPECT_DOUBLE_EQ(window.quantile(0.95), 14.8);
}

// As large as they may be and of both signs: no statistic of them overflows.
TEST(SortedWindow, TheLargestValuesGiveFiniteStatistics) {
  constexpr double kMost = SortedWindow::kLargest;
  for (const std::size_t n : {1U, 2U, 3U, 10U}) {
    SortedWindow window(n);
    for (int i = 0; i < 25; ++i) {
      ASSERT_TRUE(window.push(i % 2 == 0 ? kMost : -kMost));
      for (const double q : {0.0, 0.05, 0.5, 0.95, 1.0}) {
        ASSERT_LE(std::fabs(window.quantile(q)), kMost) << i;
      }
    }
  }
}

TEST(RollingMedianMad, TheFarthestValuesGiveFiniteStatistics) {
  constexpr double kMost = RollingMedianMad::kFarthest;
  for (const std::size_t n : {1U, 2U, 3U, 10U}) {
    RollingMedianMad window(n);
    ASSERT_TRUE(window.push(0));
    for (int i = 0; i < 25; ++i) {
      ASSERT_TRUE(window.push(i % 2 == 0 ? kMost : -kMost));
      ASSERT_TRUE(std::isfinite(window.median() + 100 * kSigmaPerMad * window.mad())) << i;
    }
  }
}

// A job whose steps take equally long gives their time, not one that is near it.
TEST(RollingMedianMad, EqualValuesAreExact) {
  RollingMedianMad window(10);
  for (int i = 0; i < 25; ++i) {
    ASSERT_TRUE(window.push(std::log(2.998)));
    ASSERT_EQ(window.median(), std::log(2.998));
    ASSERT_EQ(window.largest(), std::log(2.998));
    ASSERT_EQ(window.mad(), 0);
  }
}

TEST(RollingMedianMad, OnlyFiniteValuesEnter) {
  RollingMedianMad window(3);
  EXPECT_TRUE(std::isnan(window.mad()));
  for (const double value : {kNaN, kInfinity, -kInfinity}) EXPECT_FALSE(window.push(value));
  EXPECT_TRUE(window.push(1e60));
  EXPECT_FALSE(window.push(0)) << "too far from the first";
  EXPECT_EQ(window.median(), 1e60);
}

TEST(SortedWindow, OnlyFiniteValuesEnter) {
  SortedWindow window(3);
  EXPECT_TRUE(std::isnan(window.median()));
  EXPECT_FALSE(window.push(kNaN));
  EXPECT_FALSE(window.push(kInfinity));
  EXPECT_FALSE(window.push(-kInfinity));
  EXPECT_FALSE(window.push(1e308));
  EXPECT_FALSE(window.push(-1e308));
  EXPECT_TRUE(window.empty());
}

template <class Window>
class WindowState : public testing::Test {};
using Windows = testing::Types<SortedWindow, RollingMedianMad>;
TYPED_TEST_SUITE(WindowState, Windows);

TYPED_TEST(WindowState, SurvivesAnywhere) {
  std::mt19937 random(7);
  TypeParam window(10);
  for (int i = 0; i < 40; ++i) {
    const std::string bytes = test::saved_state(window);
    TypeParam restored(10);
    ASSERT_TRUE(test::load_state(bytes, restored));
    for (int j = 0; j < 15; ++j) {
      const double value = static_cast<double>(random() % 100);
      window.push(value);
      restored.push(value);
      ASSERT_EQ(window.median(), restored.median());
    }
  }
}

TEST(SortedWindow, RefusesStateThatIsNotItsOwn) {
  SortedWindow large(10);
  for (int i = 0; i < 10; ++i) large.push(i);
  StateIo saving = StateIo::saving();
  saving(large);
  const std::string bytes = saving.take();
  SortedWindow small(9);
  StateIo loading = StateIo::loading(bytes);
  loading(small);
  EXPECT_FALSE(loading.ok());
  EXPECT_TRUE(small.push(1)) << "still usable";

  std::string damaged = bytes;
  const double nan = kNaN;
  damaged.replace(4, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  SortedWindow window(10);
  StateIo damaged_loading = StateIo::loading(damaged);
  damaged_loading(window);
  EXPECT_FALSE(damaged_loading.ok());
  EXPECT_TRUE(window.empty());
}

}  // namespace trainwatch::rolling_stats_test

// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/distribution.h"

#include <gtest/gtest.h>

namespace trainwatch::distribution_test {

// 1..n in an order that is not sorted.
std::vector<double> shuffled(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i * 7919 % n) + 1);
  return values;
}

TEST(Distribution, IsExactWhileItIsSmall) {
  Distribution values(100);
  for (const double value : {1.0, 2.0, 3.0, 10.0}) values.add(value);
  const auto sorted = values.sorted();
  EXPECT_EQ(values.count(), 4);
  EXPECT_DOUBLE_EQ(values.mean(), 4);
  EXPECT_DOUBLE_EQ(sorted.quantile(0), 1);
  EXPECT_DOUBLE_EQ(sorted.quantile(0.5), 2.5) << "half-way, as numpy has it";
  EXPECT_DOUBLE_EQ(sorted.quantile(1), 10);
  EXPECT_EQ(sorted.count_at_least(3), 2);
  EXPECT_NEAR(sorted.standard_deviation(), 3.5355339059327378, 1e-12);
}

TEST(Distribution, IsOnePercentOffAtMostWhenItIsLarge) {
  constexpr std::size_t kCount = 100'003;
  Distribution values(1000);
  for (const double value : shuffled(kCount)) values.add(value);
  EXPECT_FALSE(values.exact());
  EXPECT_EQ(values.count(), kCount);
  EXPECT_DOUBLE_EQ(values.min(), 1);
  EXPECT_DOUBLE_EQ(values.max(), kCount);
  EXPECT_DOUBLE_EQ(values.mean(), (kCount + 1) / 2.0);
  const auto sorted = values.sorted();
  for (const double q : {0.0, 0.01, 0.25, 0.5, 0.95, 0.99, 1.0}) {
    const double right = 1 + q * (kCount - 1);
    EXPECT_NEAR(sorted.quantile(q), right, right * LogHistogram::kError * (1 + 1e-9)) << q;
  }
}

TEST(Distribution, NegativeValuesAndZero) {
  Distribution values(1);
  for (const double value : {-100.0, -1.0, 0.0, 1.0, 100.0}) values.add(value);
  const auto sorted = values.sorted();
  EXPECT_DOUBLE_EQ(sorted.quantile(0), -100);
  EXPECT_NEAR(sorted.quantile(0.25), -1, 0.01);
  EXPECT_DOUBLE_EQ(sorted.quantile(0.5), 0);
  EXPECT_NEAR(sorted.quantile(0.75), 1, 0.01);
}

TEST(Distribution, NotANumberIsLeftOut) {
  Distribution values;
  values.add(std::numeric_limits<double>::quiet_NaN());
  values.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(values.count(), 0);
  EXPECT_EQ(values.sorted().quantile(0.5), 0);
}

TEST(Distribution, MergingIsAddingEveryValue) {
  for (const std::size_t limit : {std::size_t{3000}, std::size_t{50}}) {
    Distribution whole(limit);
    Distribution first(limit);
    Distribution second(limit);
    for (const double value : shuffled(1000)) {
      whole.add(value);
      (value < 300 ? first : second).add(value);
    }
    first.merge(second);
    EXPECT_EQ(first.count(), whole.count());
    EXPECT_DOUBLE_EQ(first.mean(), whole.mean());
    EXPECT_DOUBLE_EQ(first.sorted().quantile(0.5), whole.sorted().quantile(0.5));
  }
}

TEST(Distribution, StateSurvivesAndDamageIsSeen) {
  for (const std::size_t count : {std::size_t{10}, std::size_t{5000}}) {
    Distribution values;
    for (const double value : shuffled(count)) values.add(value);
    StateIo saving = StateIo::saving();
    values.state(saving);
    const std::string bytes = saving.take();
    Distribution restored;
    StateIo loading = StateIo::loading(bytes);
    restored.state(loading);
    ASSERT_TRUE(loading.complete());
    EXPECT_EQ(restored.exact(), values.exact());
    EXPECT_DOUBLE_EQ(restored.sorted().quantile(0.9), values.sorted().quantile(0.9));

    Distribution small(5);
    StateIo cut = StateIo::loading(std::string_view(bytes).substr(0, bytes.size() - 1));
    small.state(cut);
    EXPECT_FALSE(cut.complete());
  }
}

}  // namespace trainwatch::distribution_test

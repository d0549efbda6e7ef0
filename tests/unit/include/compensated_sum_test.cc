// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/compensated_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/saved_state.h"

namespace trainwatch::compensated_sum_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMost = std::numeric_limits<double>::max();

TEST(CompensatedSum, SmallTermsAreNotLostBesideALargeOne) {
  CompensatedSum sum;
  double plain = 1e16;
  sum.add(plain);
  for (int i = 0; i < 1'000'000; ++i) {
    sum.add(0.1);
    plain += 0.1;
  }
  sum.add(-1e16);
  plain -= 1e16;
  EXPECT_NEAR(sum.value(), 100'000, 1e-4);
  EXPECT_GT(std::fabs(plain - 100'000), 1) << "what it is for";
}

TEST(CompensatedSum, StaysFinite) {
  CompensatedSum sum;
  EXPECT_TRUE(sum.add(5));
  EXPECT_FALSE(sum.add(kInfinity));
  EXPECT_FALSE(sum.add(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(sum.value(), 5);
  EXPECT_TRUE(sum.add(kMost));
  EXPECT_FALSE(sum.add(kMost));
  EXPECT_TRUE(sum.add(-kMost));
  EXPECT_EQ(sum.value(), 5);
}

TEST(CompensatedSum, StateIsCompleteAndChecked) {
  CompensatedSum sum;
  for (const double term : {1e16, 1.0, 1.0, 1.0}) sum.add(term);
  const std::string bytes = test::saved_state(sum);
  CompensatedSum loaded;
  ASSERT_TRUE(test::load_state(bytes, loaded));
  loaded.add(-1e16);
  EXPECT_EQ(loaded.value(), 3);

  std::string damaged(bytes.size(), '\0');
  damaged.replace(0, sizeof kInfinity, reinterpret_cast<const char*>(&kInfinity), sizeof kInfinity);
  StateIo damaged_loading = StateIo::loading(damaged);
  damaged_loading(loaded);
  EXPECT_FALSE(damaged_loading.ok());
  EXPECT_EQ(loaded.value(), 0);
}

}  // namespace trainwatch::compensated_sum_test

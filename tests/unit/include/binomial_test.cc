// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/stats/binomial.h"

#include <gtest/gtest.h>

namespace trainwatch::binomial_test {

TEST(Binomial, KnownTails) {
  EXPECT_NEAR(binomial_tail(6, 6, 0.25), 1.0 / 4096, 1e-12);
  EXPECT_NEAR(binomial_tail(1, 2, 0.5), 0.75, 1e-12);
  EXPECT_NEAR(binomial_tail(10, 20, 0.25), 0.0138644, 1e-6);
  EXPECT_NEAR(binomial_tail(600, 1000, 0.5), 1.36423e-10, 1e-13);
}

TEST(Binomial, TheEdges) {
  EXPECT_EQ(binomial_tail(0, 5, 0.5), 1);
  EXPECT_EQ(binomial_tail(6, 5, 0.5), 0);
  EXPECT_EQ(binomial_tail(1, 5, 0), 0);
  EXPECT_EQ(binomial_tail(5, 5, 1), 1);
}

}  // namespace trainwatch::binomial_test

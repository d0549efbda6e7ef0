// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/fd_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace trainwatch::fd_budget_test {

TEST(FdBudget, LeavesSomeForTheStoreAndForVanishedFiles) {
  const FdBudget small = fd_budget(64);
  EXPECT_EQ(small.connections, 20U);
  EXPECT_EQ(small.files, 10U);
  const FdBudget usual = fd_budget(1024);
  EXPECT_GE(usual.connections, 256U);
  EXPECT_LT(usual.connections + usual.files, 1000U);
}

TEST(FdBudget, IsNeverNothing) {
  EXPECT_EQ(fd_budget(3).connections, 1U);
  EXPECT_EQ(fd_budget(3).files, 1U);
  EXPECT_GT(fd_budget(std::numeric_limits<std::size_t>::max()).files, 1'000'000U);
}

TEST(FdBudget, KnowsWhatConnectionsAndFilesNeed) {
  for (const std::size_t connections : {1U, 388U, 1260U}) {
    EXPECT_EQ(fd_budget(descriptors_for({connections, 1})).connections,
              std::max(connections, std::size_t{2}));
  }
  const FdBudget many = fd_budget(descriptors_for({388, 1024}));
  EXPECT_GE(many.connections, 388U);
  EXPECT_EQ(many.files, 1024U);
}

TEST(FdBudget, KnowsTheLimit) {
  EXPECT_GE(descriptor_limit(), 3U);
}

}  // namespace trainwatch::fd_budget_test

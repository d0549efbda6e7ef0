// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/release_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainwatch::release_memory_test {

TEST(ReleaseMemory, NothingIsKept) {
  std::vector<int> values(1000);
  release_memory(values);
  EXPECT_EQ(values.capacity(), 0U);
}

}  // namespace trainwatch::release_memory_test

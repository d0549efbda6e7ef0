// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/merge_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace trainwatch::merge_runs_test {

TEST(MergeRuns, IsAStableSort) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<int, int>> values;
    const std::size_t runs = random() % 7;
    for (std::size_t run = 0; run < runs; ++run) {
      const std::size_t begin = values.size();
      for (std::size_t left = random() % 20; left > 0; --left) {
        values.emplace_back(random() % 10, static_cast<int>(values.size()));
      }
      if (random() % 5 > 0) {
        std::sort(values.begin() + static_cast<std::ptrdiff_t>(begin), values.end());
      }
    }
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    auto expected = values;
    std::stable_sort(expected.begin(), expected.end(), less);
    merge_runs(values, less);
    ASSERT_EQ(values, expected) << "round " << round;
  }
}

}  // namespace trainwatch::merge_runs_test

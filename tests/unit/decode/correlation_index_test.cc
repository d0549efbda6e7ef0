// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/correlation_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace trainwatch::correlation_index_test {

TEST(CorrelationIndex, DoesWhatAMapDoes) {
  std::mt19937_64 random{20261121};
  CorrelationIndex index;
  std::map<std::int64_t, std::uint32_t> right;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    // Those of more than 32 bits, too.
    const std::int64_t apart = i % 3 == 0 ? 4096 : i % 50 == 0 ? std::int64_t{1} << 32U : 1;
    const auto key = static_cast<std::int64_t>(random() % 20'000 + 1) * apart;
    if (random() % 3 == 0) {
      index.erase(key);
      right.erase(key);
    } else if (std::uint32_t* const known = index.find(key)) {
      ASSERT_EQ(*known, right.at(key));
      *known = right[key] = i;
    } else {
      ASSERT_FALSE(right.contains(key));
      index.insert(key, i);
      right[key] = i;
    }
    ASSERT_EQ(index.size(), right.size());
  }
  std::multimap<std::uint32_t, int> values;
  index.for_each([&](std::uint32_t value) { values.emplace(value, 1); });
  EXPECT_EQ(values.size(), right.size());
  for (const auto& [key, value] : right) {
    ASSERT_NE(index.find(key), nullptr);
    EXPECT_EQ(*index.find(key), value);
    EXPECT_EQ(values.count(value), 1U);
  }
}

TEST(CorrelationIndex, IsEmptyWhenCleared) {
  CorrelationIndex index;
  for (std::int64_t i = 1; i < 5000; ++i) index.insert(i, 7);
  index.clear();
  EXPECT_EQ(index.size(), 0U);
  EXPECT_EQ(index.find(17), nullptr);
}

}  // namespace trainwatch::correlation_index_test

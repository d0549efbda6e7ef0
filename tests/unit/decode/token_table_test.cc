// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/token_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace trainwatch::token_table_test {

using Pair = std::pair<std::string, std::string>;

std::optional<std::uint32_t> find(const TokenTable<2>& table, const Pair& pair) {
  return table.find({pair.first, pair.second});
}

TEST(TokenTable, KnowsWhereOneTokenEnds) {
  TokenTable<2> table;
  EXPECT_EQ(find(table, {"ab", "c"}), std::nullopt);
  table.add({"ab", "c"}, 7);
  table.add({"a", "bc"}, 8);
  EXPECT_EQ(find(table, {"ab", "c"}), 7);
  EXPECT_EQ(find(table, {"a", "bc"}), 8);
  EXPECT_EQ(find(table, {"", "abc"}), std::nullopt);
}

TEST(TokenTable, RandomTokensAreFoundAsInAMap) {
  std::mt19937 random(7);
  const auto token = [&random] {
    std::string text(random() % 24, 'x');
    for (char& c : text) c = "ab"[random() % 8 == 0];
    return text;
  };
  TokenTable<2> table;
  std::map<Pair, std::uint32_t> known;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const Pair pair{token(), token()};
    const auto place = known.find(pair);
    const auto expected = place == known.end() ? std::nullopt : std::optional(place->second);
    ASSERT_EQ(find(table, pair), expected) << pair.first << " " << pair.second;
    if (expected) continue;
    table.add({pair.first, pair.second}, i);
    known.emplace(pair, i);
  }
  table.clear();
  EXPECT_EQ(find(table, known.begin()->first), std::nullopt);
}

}  // namespace trainwatch::token_table_test

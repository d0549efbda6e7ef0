// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/literal_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::literal_search_test {
namespace {

TEST(LiteralSearch, FindsTheFirst) {
  const LiteralSearch search({"loss", "%|", "x"});
  EXPECT_EQ(search.find("the loss is 3"), 4U);
  EXPECT_EQ(search.find("12%|"), 2U);
  EXPECT_EQ(search.find("12%|", 3), std::string_view::npos);
  EXPECT_EQ(search.find(""), std::string_view::npos);
  EXPECT_EQ(search.find(std::string(100, 'a') + "x" + std::string(100, 'b')), 100U);
  EXPECT_EQ(LiteralSearch().find("anything"), std::string_view::npos);
  EXPECT_EQ(LiteralSearch({"a"}, false).find("bba"), 2U);
}

// Of few letters, so that much is nearly right.
TEST(LiteralSearch, VectorsFindWhatThePlainSearchFinds) {
  std::mt19937 random(11);
  const auto text_of = [&](std::size_t size, unsigned letters) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % letters);
    return text;
  };
  for (int trial = 0; trial < 5'000; ++trial) {
    const auto letters = static_cast<unsigned>(2 + random() % 12);
    std::vector<std::string> literals;
    for (auto i = 1 + random() % 20; i > 0; --i) {
      literals.push_back(text_of(1 + random() % 9, letters));
    }
    const std::vector<std::string_view> views(literals.begin(), literals.end());
    const LiteralSearch fast(views);
    const LiteralSearch plain(views, false);
    // Lines: where two literals overlap, either may come first.
    std::string text;
    for (auto line = random() % 4; line > 0; --line) text += text_of(random() % 90, letters) + "\n";
    const auto line_of = [&](std::size_t at) {
      return at == std::string::npos
                 ? -1
                 : std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    };
    for (std::size_t from = 0; from < text.size(); from += 1 + random() % 40) {
      const std::size_t at = fast.find(text, from);
      ASSERT_EQ(line_of(at), line_of(plain.find(text, from))) << text << from;
      if (at == std::string::npos) continue;
      EXPECT_GE(at, from);
      EXPECT_TRUE(std::ranges::any_of(literals, [&](const std::string& literal) {
        return std::string_view(text).substr(at).starts_with(literal);
      }));
    }
  }
}

}  // namespace
}  // namespace trainwatch::literal_search_test

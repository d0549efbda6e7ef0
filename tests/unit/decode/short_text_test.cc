// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/short_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace trainwatch::testing::short_text_test {

// Of all lengths, as each is read in pieces of other sizes.
TEST(ShortText, EqualUnlessOneByteDiffers) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'x');
    EXPECT_TRUE(same_bytes(text.data(), std::string(text).data(), size));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = 'y';
      EXPECT_FALSE(same_bytes(text.data(), other.data(), size)) << size << ' ' << at;
    }
  }
}

TEST(ShortText, FindsTheFirst) {
  std::mt19937 random{3};
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 50, 'a');
    for (char& c : text) c = "ab\"\\!#[]\xa2\xdc\x22\x21"[random() % 12];
    EXPECT_EQ(find_near(text, '"'), text.find('"')) << text;
    const char* const end = text.data() + text.size();
    const char* const found = find_either(text.data(), end, '"', '\\');
    const auto at = static_cast<std::size_t>(found - text.data());
    EXPECT_EQ(at, std::min(text.find_first_of("\"\\"), text.size())) << text;
  }
}

TEST(ShortText, FindsTheFirstThatIsNeither) {
  for (std::size_t size = 0; size < 50; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      std::string text;
      while (text.size() < size) text += text.size() % 3 == 0 ? '\n' : ' ';
      if (at < size) text[at] = '\t';
      const char* const end = text.data() + text.size();
      EXPECT_EQ(find_neither(text.data(), end, ' ', '\n'), text.data() + at) << size;
    }
  }
}

TEST(ShortText, FindsTheEndOfANumber) {
  std::mt19937 random{5};
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 50, '0');
    for (char& c : text) {
      if (random() % 16 == 0) c = ",}] \t\n\x01[{=M\x80\xa0\xdd\xff"[random() % 15];
    }
    const char* const end = text.data() + text.size();
    const char* const found = find_bare_end(text.data(), end);
    const auto is_end = [](char c) {
      return c == ',' || c == '}' || c == ']' || static_cast<unsigned char>(c) <= ' ';
    };
    const char* const begin = text.data();
    EXPECT_EQ(found, std::find_if(begin, end, is_end)) << text;
  }
}

}  // namespace trainwatch::testing::short_text_test

// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/valid_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace trainwatch::testing::valid_text_test {

using namespace std::string_literals;

TEST(ValidText, LeavesPrintableTextAlone) {
  for (const char* text :
       {"", "algo-1", "Spät \"x\"", "训练", "🚀 \\ /", "\u00A0", "أثر", "\u2027\u202F\u2065"}) {
    EXPECT_TRUE(is_valid_text(text)) << text;
    EXPECT_EQ(valid_text(text), text);
  }
}

TEST(ValidText, EscapesControlCharactersAndBytesThatAreNotUtf8) {
  struct Case {
    std::string text;
    std::string valid;
  };
  const Case cases[] = {
      {"algo-1\xFF", "algo-1\\xff"},
      {"\x1B[31m", "\\x1b[31m"},
      {"a\nb\tc\x7F", "a\\x0ab\\x09c\\x7f"},
      {"nul\0nul"s, "nul\\x00nul"},
      {"\xC0\xAF", "\\xc0\\xaf"},                    // overlong
      {"\xE0\x9F\xBF", "\\xe0\\x9f\\xbf"},           // overlong
      {"\xED\xA0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
      {"\xF0\x8F\xBF\xBF", "\\xf0\\x8f\\xbf\\xbf"},  // overlong
      {"\xC2\x85", "\\xc2\\x85"},                    // C1: next line
      {"\xC3", "\\xc3"},                             // cut off
      {"\xE2\x82", "\\xe2\\x82"},
      {"\xF0\x9F\x9A", "\\xf0\\x9f\\x9a"},
      {"\x80", "\\x80"},
      {"a\u202Eb", "a\\xe2\\x80\\xaeb"},  // mirrors what follows
      {"\u2066", "\\xe2\\x81\\xa6"},
      {"\u200F", "\\xe2\\x80\\x8f"},
      {"\u061C", "\\xd8\\x9c"},
      {"\u2028", "\\xe2\\x80\\xa8"},  // another line
  };
  for (const Case& c : cases) {
    EXPECT_FALSE(is_valid_text(c.text)) << c.valid;
    EXPECT_EQ(valid_text(c.text), c.valid);
  }
}

TEST(ValidText, IsValidForAnyBytes) {
  std::mt19937 random{7};
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_TRUE(is_valid_text(valid_text(text)));
    EXPECT_EQ(valid_text(valid_text(text)), valid_text(text));
    const std::string name = valid_name(text, 32);
    EXPECT_TRUE(is_valid_text(name));
    EXPECT_LE(name.size(), 32U);
  }
}

TEST(ValidText, LongNamesAreCutAndStayDifferent) {
  const std::string long_name(1U << 20U, 'x');
  const std::string cut = valid_name(long_name + "1", 256);
  EXPECT_EQ(cut.size(), 256U);
  EXPECT_TRUE(cut.starts_with("xxxx"));
  EXPECT_NE(cut, valid_name(long_name + "2", 256));
  EXPECT_EQ(cut, valid_name(long_name + "1", 256));
  EXPECT_EQ(valid_name(std::string(256, 'x'), 256), std::string(256, 'x'));
}

TEST(ValidText, NamesAreCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 200; ++i) name += "训";
  for (std::size_t most = 32; most < 64; ++most) {
    EXPECT_TRUE(is_valid_text(valid_name(name, most))) << most;
    EXPECT_LE(valid_name(name, most).size(), most);
  }
}

}  // namespace trainwatch::testing::valid_text_test

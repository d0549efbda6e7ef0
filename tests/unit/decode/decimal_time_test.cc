// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/decimal_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace trainwatch::decimal_time_test {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::optional<std::int64_t> us(std::string_view text) {
  return parse_time_ns(text, TimeUnit::microseconds);
}
std::optional<std::int64_t> seconds(std::string_view text) {
  return parse_time_ns(text, TimeUnit::seconds);
}

TEST(DecimalTime, ReadsWhatADoubleCannot) {
  EXPECT_EQ(us("1712195495505582.988"), 1712195495505582988);
  EXPECT_EQ(us("1712195495505582.989"), 1712195495505582989);
  EXPECT_EQ(us("4458676983543.183"), 4458676983543183);
  EXPECT_EQ(us("1669783687464181"), 1669783687464181000);
  EXPECT_EQ(seconds("1591748109.2321954"), 1591748109232195400);
  EXPECT_EQ(seconds("1700000000.00899"), 1700000000008990000);
  EXPECT_EQ(parse_time_ns("1787426466048337924", TimeUnit::nanoseconds), 1787426466048337924);
}

TEST(DecimalTime, ReadsEveryNumberOfJson) {
  EXPECT_EQ(us("0"), 0);
  EXPECT_EQ(us("-0"), 0);
  EXPECT_EQ(us("1.5"), 1500);
  EXPECT_EQ(us("-1.5"), -1500);
  EXPECT_EQ(us("1e3"), 1000000);
  EXPECT_EQ(us("1.25E+2"), 125000);
  EXPECT_EQ(us("12500e-3"), 12500);
  EXPECT_EQ(us("0.000"), 0);
  EXPECT_EQ(us("1e-30"), 0);
}

TEST(DecimalTime, RoundsBelowANanosecond) {
  EXPECT_EQ(us("0.0014999"), 1);
  EXPECT_EQ(us("0.0015"), 2);
  EXPECT_EQ(us("-0.0015"), -2);
  EXPECT_EQ(us("1.00049999999999999999999999999"), 1000);
  EXPECT_EQ(us("0.00000000000000000000000000001"), 0);
}

TEST(DecimalTime, SaturatesAtTheEndsOfTime) {
  EXPECT_EQ(us("9223372036854775.807"), kMax);
  EXPECT_EQ(us("9223372036854775.808"), kMax);
  EXPECT_EQ(us("99999999999999999999999999"), kMax);
  EXPECT_EQ(us("-99999999999999999999999999"), kMin);
  EXPECT_EQ(us("1e300"), kMax);
  EXPECT_EQ(us("9999999999999999999"), kMax);
  EXPECT_EQ(saturating_add(kMax, 1), kMax);
  EXPECT_EQ(saturating_add(kMin, -1), kMin);
  EXPECT_EQ(saturating_add(kMax, kMin), -1);
}

// 19 digits are kept: leading zeros are none of them, and the next one rounds.
TEST(DecimalTime, TwentyDigits) {
  constexpr auto seconds = [](const char* text) { return parse_time_ns(text, TimeUnit::seconds); };
  EXPECT_EQ(seconds("1234567890.1234567894"), 1'234'567'890'123'456'789);
  EXPECT_EQ(seconds("1234567890.1234567895"), 1'234'567'890'123'456'790);
  EXPECT_EQ(seconds("-1234567890.1234567895"), -1'234'567'890'123'456'790);
  EXPECT_EQ(seconds("9223372036.85477580799"), kMax);
  EXPECT_EQ(seconds("0.00000001234567890123456e15"), 12'345'678'901'234'560);
}

TEST(DecimalTime, RefusesWhatIsNoNumber) {
  for (const char* text : {"",    "-",     ".5",      "NaN", "\"12\"", "1x",    "1e",
                           "1e+", "1.2.3", "null",    "1 ",  "e5",     "--1",   "1e999999999999",
                           "01",  "-01",   "00012.5", "2.",  "2.e3",   "0e+-1", "+1",
                           "0x1", "1_0",   "..5",     "1..5"}) {
    EXPECT_EQ(us(text), std::nullopt) << text;
  }
}

TEST(DecimalTime, AgreesWithLongDoubleOnRandomNumbers) {
  std::mt19937_64 random{3};
  for (int i = 0; i < 20000; ++i) {
    const auto whole = static_cast<std::int64_t>(random() % 2'000'000'000'000'000);
    const auto fraction = static_cast<std::int64_t>(random() % 1000);
    char text[64];
    std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(whole),
                  static_cast<long long>(fraction));
    ASSERT_EQ(us(text), whole * 1000 + fraction) << text;
  }
}

// Lengths are read in different ways: each with every digit anywhere, and with what is none.
TEST(DecimalTime, IntegersOfEveryLength) {
  std::mt19937_64 random{5};
  for (std::size_t size = 1; size <= 19; ++size) {
    for (int i = 0; i < 300; ++i) {
      std::string text(size, '0');
      for (char& c : text) c = static_cast<char>('0' + random() % 10);
      if (size == 19) text[0] = '8';  // so that it fits
      if (size > 1 && text[0] == '0') text[0] = '1';
      const std::int64_t value = std::strtoll(text.c_str(), nullptr, 10);
      ASSERT_EQ(parse_time_ns(text, TimeUnit::nanoseconds), value) << text;
      ASSERT_EQ(us(text), value > kMax / 1000 ? kMax : value * 1000) << text;
      ASSERT_EQ(us("-" + text), value > kMax / 1000 ? kMin : value * -1000) << text;
      ASSERT_EQ(parse_integer(text), value) << text;
      ASSERT_EQ(parse_integer("-" + text), -value) << text;
      ASSERT_EQ(parse_number(text), std::strtod(text.c_str(), nullptr)) << text;
      ASSERT_EQ(parse_number("-" + text), -std::strtod(text.c_str(), nullptr)) << text;
      text[random() % size] = "/:; +-x\xb0\xff"[random() % 10];
      if (text[0] == '-') continue;
      ASSERT_EQ(us(text), std::nullopt) << text;
      ASSERT_EQ(parse_integer(text), std::nullopt) << text;
    }
  }
}

// An exponent of 0 changes nothing, but such numbers are read in another way.
TEST(DecimalTime, FractionsOfEveryLength) {
  std::mt19937_64 random{6};
  for (int i = 0; i < 100'000; ++i) {
    std::string text(1 + random() % 20, '0');
    for (char& c : text) c = static_cast<char>('0' + random() % 10);
    text.insert(random() % (text.size() + 1), ".");
    for (const TimeUnit unit : {TimeUnit::nanoseconds, TimeUnit::microseconds,
                                TimeUnit::milliseconds, TimeUnit::seconds}) {
      ASSERT_EQ(parse_time_ns(text, unit), parse_time_ns(text + "e0", unit)) << text;
    }
    ASSERT_EQ(parse_number(text), parse_number(text + "e0")) << text;
  }
}

TEST(ParseNumber, IsCorrectlyRounded) {
  std::mt19937_64 random{4};
  for (int i = 0; i < 50000; ++i) {
    char text[64];
    const double value =
        std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 90);
    std::snprintf(text, sizeof text, i % 2 == 0 ? "%.6f" : "%.17g", value);
    ASSERT_EQ(parse_number(text), std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(parse_number("-4.76"), -4.76);
  EXPECT_EQ(parse_number("12345678901234567890123"), 12345678901234567890123.0);
}

TEST(ParseNumber, AcceptsPythonsLiterals) {
  ASSERT_TRUE(parse_number("NaN"));
  EXPECT_TRUE(std::isnan(*parse_number("NaN")));
  EXPECT_EQ(parse_number("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("-Infinity"), -std::numeric_limits<double>::infinity());
  for (const char* text : {"", "nan", "inf", "N/A", "\"1\"", "true", "1.5x"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, AlsoInQuotes) {
  EXPECT_EQ(parse_integer("12"), 12);
  EXPECT_EQ(parse_integer("\"12\""), 12);
  EXPECT_EQ(parse_integer("-3"), -3);
  for (const char* text : {"", "\"\"", "\"", "1.5", "x", "99999999999999999999", "-", "--1", "01",
                           "-01", "00", "\"01\"", "0000000000000000001", "+1"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

// Unlike a number, what stands in a name may begin with zeros.
TEST(ParseDigits, OfNames) {
  EXPECT_EQ(parse_digits("007"), 7);
  EXPECT_EQ(parse_digits("9223372036854775807"), kMax);
  for (const char* text :
       {"", "-1", "1.5", "x", "\"1\"", "9223372036854775808", "00000000000000000001"}) {
    EXPECT_EQ(parse_digits(text), std::nullopt) << text;
  }
}

std::optional<std::string> behind_digits(std::string_view text, std::int64_t& number) {
  const char* const end = text.data() + text.size();
  const char* const behind = read_leading_digits(text.data(), end, number);
  return behind == nullptr ? std::nullopt : std::optional(std::string{behind, end});
}

TEST(ReadLeadingDigits, UpToWhatIsNone) {
  std::mt19937_64 random{11};
  for (int i = 0; i < 20'000; ++i) {
    const std::string digits = std::to_string(random() >> (random() % 64));
    std::string rest = std::string{",x:.\xff\x39"}.substr(random() % 5, 1 + random() % 3);
    if (random() % 4 == 0) rest.clear();
    std::int64_t number = -1;
    const auto behind = behind_digits(digits + rest, number);
    ASSERT_EQ(behind.has_value(), digits.size() <= 16) << digits << rest;
    if (!behind) continue;
    EXPECT_EQ(std::to_string(number), digits) << rest;
    EXPECT_EQ(*behind, rest) << digits;
  }
}

TEST(ReadLeadingDigits, WhatIsNoNumber) {
  std::int64_t number = 0;
  for (const std::string_view text : {"", "-1", "01", "00000000", "x", " 1", "\xff", ":1234567",
                                      "/1234567", "12345678901234567"}) {
    EXPECT_EQ(behind_digits(text, number), std::nullopt) << text;
  }
  EXPECT_EQ(behind_digits("0,12345678", number), ",12345678");
  EXPECT_EQ(number, 0);
}

}  // namespace trainwatch::decimal_time_test

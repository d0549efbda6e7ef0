// SPDX-License-Identifier: Apache-2.0
// Numbers: what is read is a number of RFC 8259, and as a time it is the exact one, rounded.
#include "pipeline/decode/decimal_time.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"

namespace trainwatch::fuzz {
namespace {

constexpr long kMostExponent = 200;

// A number of RFC 8259, taken apart.
struct JsonNumber {
  bool valid = false;
  bool negative = false;
  std::string digits;  // without the point
  long exponent = 0;   // the point is so far behind the last digit
};

std::string take_digits(std::string_view& text) {
  const std::string digits(text.substr(0, text.find_first_not_of("0123456789")));
  text.remove_prefix(digits.size());
  return digits;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

JsonNumber take_apart(std::string_view text) {
  JsonNumber out;
  out.negative = take(text, '-');
  out.digits = take_digits(text);
  if (out.digits.empty() || (out.digits.size() > 1 && out.digits[0] == '0')) return out;
  if (take(text, '.')) {
    const std::string places = take_digits(text);
    if (places.empty()) return out;
    out.digits += places;
    out.exponent = -static_cast<long>(places.size());
  }
  if (take(text, 'e') || take(text, 'E')) {
    const bool below = take(text, '-');
    if (!below) take(text, '+');
    std::string digits = take_digits(text);
    if (digits.empty()) return out;
    digits.erase(0, digits.find_first_not_of('0'));
    const long written = std::strtol(digits.substr(0, 18).c_str(), nullptr, 10);
    out.exponent += below ? -written : written;
  }
  out.valid = text.empty();
  return out;
}

// Nanoseconds by shifting the point among the digits.
std::int64_t nanoseconds(JsonNumber number, int unit) {
  const long shift = number.exponent + unit;
  bool up = false;
  if (shift >= 0) {
    number.digits.append(static_cast<std::size_t>(shift), '0');
  } else {
    const auto kept = static_cast<long>(number.digits.size()) + shift;
    up = kept >= 0 && number.digits[static_cast<std::size_t>(kept)] >= '5';
    number.digits.resize(static_cast<std::size_t>(std::max(kept, 0L)));
  }
  constexpr std::uint64_t kMost = INT64_MAX;
  std::uint64_t value = 0;
  for (const char digit : number.digits) {
    if (value > kMost / 10) return number.negative ? INT64_MIN : INT64_MAX;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (up) ++value;
  if (value > kMost) return number.negative ? INT64_MIN : INT64_MAX;
  return number.negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace

void read_numbers(std::string_view input) {
  const JsonNumber number = take_apart(input);
  const std::array units = {TimeUnit::nanoseconds, TimeUnit::microseconds, TimeUnit::milliseconds,
                            TimeUnit::seconds};
  for (const TimeUnit unit : units) {
    const auto time = parse_time_ns(input, unit);
    if (time) expect(number.valid, "a time is a JSON number");
    if (!number.valid || std::labs(number.exponent) > kMostExponent) continue;
    expect(time.has_value(), "a JSON number is a time");
    expect(*time == nanoseconds(number, static_cast<int>(unit)), "a time is exact");
  }
  if (const auto integer = parse_integer(input); integer && !input.starts_with('"')) {
    expect(number.valid && std::to_string(*integer) == (input == "-0" ? "0" : input),
           "an integer is what is written");
  }
  const auto value = parse_number(input);
  const bool word = input == "NaN" || input == "Infinity" || input == "-Infinity";
  if (value) expect(number.valid || word, "a number is JSON's or Python's");
  if (value && number.valid) {
    expect(*value == std::strtod(std::string(input).c_str(), nullptr), "a number is exact");
  }
  if (word) expect(value.has_value(), "Python's words are numbers");
}

}  // namespace trainwatch::fuzz

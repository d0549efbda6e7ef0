// SPDX-License-Identifier: Apache-2.0
// Decimal text to integer nanoseconds, without a double in between: a double has 0.25 us
// granularity for today's microseconds since the epoch.
//
// Each parse_...() has a read_...() that returns false where it returns nullopt, and whose result
// parameter is then unspecified. Hot loops call read_...(), and parse_...() is inline: GCC returns
// an optional through memory in pieces and waits for them, which was 43 % of the time of
// parse_time_ns().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace trainwatch {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// How many nanoseconds one unit of the text is, as a power of ten.
enum class TimeUnit : std::uint8_t {
  nanoseconds = 0,
  microseconds = 3,
  milliseconds = 6,
  seconds = 9
};

// Accepts what JSON calls a number: "12", "-1.5", "1e3", "1712195495505582.988". What lies below a
// nanosecond is rounded to the nearest (half away from zero); what does not fit saturates.
// nullopt: not such a number, or an exponent beyond 400.
bool read_time_ns(std::string_view text, TimeUnit unit, std::int64_t& ns);
inline std::optional<std::int64_t> parse_time_ns(std::string_view text, TimeUnit unit) {
  std::int64_t ns = 0;
  return read_time_ns(text, unit, ns) ? std::optional(ns) : std::nullopt;
}

// A JSON integer, also one that a writer put in quotes ("12"): "01" is none. nullopt: not an
// integer, or too big.
bool read_integer(std::string_view token, std::int64_t& number);
inline std::optional<std::int64_t> parse_integer(std::string_view token) {
  std::int64_t number = 0;
  return read_integer(token, number) ? std::optional(number) : std::nullopt;
}
// The same, with a default for other tokens; most events lack most members.
inline std::int64_t integer_or(std::string_view token, std::int64_t none) {
  std::int64_t number = 0;
  return !token.empty() && read_integer(token, number) ? number : none;
}

// The digits of a name ("007" of rank007) as a number. nullopt: there are none, or something else,
// or too many.
bool read_digits(std::string_view text, std::int64_t& number);
inline std::optional<std::int64_t> parse_digits(std::string_view text) {
  std::int64_t number = 0;
  return read_digits(text, number) ? std::optional(number) : std::nullopt;
}

// Reads the number that [begin, end) begins with, and returns where it ends: 1 to 16 digits, of
// which the first is 0 in a single one only. Null: there is something else, or more digits.
const char* read_leading_digits(const char* begin, const char* end, std::int64_t& number);

// A JSON integer that fits into 32 bits.
inline std::optional<std::int32_t> small_integer(std::string_view token) {
  std::int64_t number = 0;
  if (!read_integer(token, number) || !std::in_range<std::int32_t>(number)) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

// A JSON number, or one of the literals that Python's json writes and JSON does not know: NaN,
// Infinity, -Infinity. nullopt: neither.
bool read_number(std::string_view text, double& number);
inline std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  return read_number(text, number) ? std::optional(number) : std::nullopt;
}

// A number in JSON, or NaN or an infinity, quoted or not, as written by Python's json ("NaN",
// "Infinity") or print ("nan", "inf"). nullopt: not a number.
std::optional<double> number_in_json(std::string_view token);

// a + b, clamped to the range of int64.
std::int64_t saturating_add(std::int64_t a, std::int64_t b);

}  // namespace trainwatch

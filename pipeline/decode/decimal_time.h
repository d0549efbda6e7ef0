// Decimal text to integer nanoseconds, without a double in between: a double has 0.25 us
// granularity for today's microseconds since the epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
std::optional<std::int64_t> parse_time_ns(std::string_view text, TimeUnit unit);

// A JSON integer, also one that a writer put in quotes ("12"): "01" is none. nullopt: not an
// integer, or too big.
std::optional<std::int64_t> parse_integer(std::string_view token);
// The same, with a default for other tokens; most events lack most members.
inline std::int64_t integer_or(std::string_view token, std::int64_t none) {
  return token.empty() ? none : parse_integer(token).value_or(none);
}

// The digits of a name ("007" of rank007) as a number. nullopt: there are none, or something else,
// or too many.
std::optional<std::int64_t> parse_digits(std::string_view text);

// A JSON integer that fits into 32 bits.
std::optional<std::int32_t> small_integer(std::string_view token);

// A JSON number, or one of the literals that Python's json writes and JSON does not know: NaN,
// Infinity, -Infinity. nullopt: neither.
std::optional<double> parse_number(std::string_view text);

// a + b, clamped to the range of int64.
std::int64_t saturating_add(std::int64_t a, std::int64_t b);

}  // namespace trainwatch

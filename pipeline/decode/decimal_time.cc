// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/decimal_time.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "pipeline/decode/short_text.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr int kExactDigits = 19;  // any 19 digits fit into 64 bits unsigned

constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// Powers of ten that a double holds exactly.
constexpr std::array<double, 23> kExactDoubles = [] {
  std::array<double, 23> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// [-]digits[.digits][e[+-]digits] as mantissa * 10^exponent. Digits beyond the 19th only move the
// exponent: they are far below a nanosecond, or the value saturates anyway.
struct Decimal {
  std::uint64_t mantissa = 0;
  int exponent = 0;
  int digits = 0;        // significant ones in the mantissa
  bool dropped = false;  // more digits than the mantissa holds
  bool half = false;     // the first of these is 5 or more
  bool negative = false;
};

// More than 9: not a digit.
constexpr unsigned digit_of(char c) {
  return static_cast<unsigned char>(c) - unsigned{'0'};
}

// The number that eight digits are; a zero byte counts as a 0. Each step joins neighbours: digits
// to pairs to fours to eight.
[[gnu::always_inline]] inline std::uint64_t joined_digits(std::uint64_t word) {
  word = (word & 0x0F0F0F0F0F0F0F0FULL) * 2561 >> 8U;
  word = (word & 0x00FF00FF00FF00FFULL) * 6553601 >> 16U;
  return (word & 0x0000FFFF0000FFFFULL) * 42949672960001 >> 32U;
}

// False: other characters are among the eight.
[[gnu::always_inline]] inline bool eight_digits(std::uint64_t word, std::uint64_t& value) {
  constexpr std::uint64_t kHighHalves = 0xF0F0F0F0F0F0F0F0ULL;
  const std::uint64_t carried = (word + 0x0606060606060606ULL) & kHighHalves;
  if ((word & kHighHalves) != 0x3030303030303030ULL || carried != 0x3030303030303030ULL) {
    return false;
  }
  value = joined_digits(word);
  return true;
}

// 0 has none.
inline int count_digits(std::uint64_t value) {
  int digits = 0;
  for (; value > 0; value /= 10) ++digits;
  return digits;
}

[[gnu::always_inline]] inline const char* read_places(const char* p, const char* end, bool fraction,
                                                      Decimal& out) {
  while (std::endian::native == std::endian::little && end - p >= 8 &&
         out.digits + 8 <= kExactDigits) {
    std::uint64_t eight = 0;
    if (!eight_digits(load<std::uint64_t>(p), eight)) break;
    out.digits = out.digits > 0 ? out.digits + 8 : count_digits(eight);
    out.mantissa = out.mantissa * 100'000'000 + eight;
    if (fraction) out.exponent -= 8;
    p += 8;
  }
  for (; p != end && digit_of(*p) <= 9; ++p) {
    if (out.digits == kExactDigits) {
      if (!out.dropped) out.half = *p >= '5';
      out.dropped = true;
      if (!fraction) ++out.exponent;
      continue;
    }
    out.mantissa = out.mantissa * 10 + digit_of(*p);
    if (out.mantissa != 0) ++out.digits;
    if (fraction) --out.exponent;
  }
  return p;
}

[[gnu::always_inline]] inline std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal out;
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p != end && *p == '-') {
    out.negative = true;
    ++p;
  }
  if (p == end || !is_digit(*p)) return std::nullopt;
  p = read_places(p, end, false, out);
  if (p != end && *p == '.') {
    const char* const fraction = p + 1;
    p = read_places(fraction, end, true, out);
    if (p == fraction) return std::nullopt;
  }
  if (p == end) return out;
  if (*p != 'e' && *p != 'E') return std::nullopt;
  if (++p != end && *p == '+' && (++p == end || !is_digit(*p))) return std::nullopt;
  int exponent = 0;
  const auto [stop, error] = std::from_chars(p, end, exponent);
  if (error != std::errc{} || stop != end || exponent > 400 || exponent < -400) return std::nullopt;
  out.exponent += exponent;
  return out;
}

// JSON has no such numbers: "01", "-00.5".
[[gnu::always_inline]] inline bool has_leading_zero(std::string_view text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first + 1 && text[first] == '0' && is_digit(text[first + 1]);
}

// The last `size` (1 to 8) of eight characters as a number, whatever stands before them.
[[gnu::always_inline]] inline bool last_digits(std::uint64_t word, std::size_t size,
                                               std::uint64_t& value) {
  constexpr std::uint64_t kZeros = 0x3030303030303030ULL;
  const std::uint64_t before = (std::uint64_t{1} << (8 * (8 - size))) - 1;
  return eight_digits((word & ~before) | (kZeros & before), value);
}

// The value of 1 to 16 digits and nothing else, as most numbers are written.
[[gnu::always_inline]] inline bool short_integer(std::string_view text, std::uint64_t& value) {
  const char* const p = text.data();
  const std::size_t size = text.size();
  if (size == 0 || size > 16) return false;
  if (std::endian::native == std::endian::little && size > 8) {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    if (!eight_digits(load<std::uint64_t>(p), high)) return false;
    if (!last_digits(load<std::uint64_t>(p + size - 8), size - 8, low)) return false;
    value = high * kPowersOfTen[size - 8] + low;
    return true;
  }
  if (std::endian::native == std::endian::little && size >= 4) {  // two halves that may overlap
    const std::uint64_t first = load<std::uint32_t>(p);
    const std::uint64_t last = load<std::uint32_t>(p + size - 4);
    return last_digits(last << 32U | first << (8 * (8 - size)), size, value);
  }
  value = 0;
  for (const char c : text) {
    const unsigned digit = digit_of(c);
    if (digit > 9) return false;
    value = value * 10 + digit;
  }
  return true;
}

// units / 10^places
struct ShortDecimal {
  std::uint64_t units = 0;
  std::size_t places = 0;
};

// Up to 8 characters.
[[gnu::always_inline]] inline bool tiny_decimal(std::string_view text, ShortDecimal& out) {
  std::uint64_t units = 0;
  std::size_t point = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned digit = digit_of(text[at]);
    if (digit <= 9) {
      units = units * 10 + digit;
    } else if (text[at] == '.' && point == 0 && at > 0) {
      point = at;
    } else {
      return false;
    }
  }
  if (point == 0 || point + 1 == text.size()) return false;
  out = {units, text.size() - point - 1};
  return true;
}

// Counts the digits at the beginning of eight characters.
[[gnu::always_inline]] inline std::size_t digits_before(std::uint64_t word) {
  const std::uint64_t values = word ^ 0x3030303030303030ULL;
  const std::uint64_t others = ((values + 0x7676767676767676ULL) | values) & 0x8080808080808080ULL;
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;  // 8 if all are digits
}

// Reads up to eight digits and returns where they end.
[[gnu::always_inline]] inline const char* read_up_to_eight(const char* begin, const char* end,
                                                           std::uint64_t& value) {
  if (std::endian::native == std::endian::little && end - begin >= 8) {
    const auto word = load<std::uint64_t>(begin);
    const std::size_t count = digits_before(word);
    value = count == 0 ? 0 : joined_digits(word << (8 * (8 - count)));
    return begin + count;
  }
  value = 0;
  const char* const most = end - begin < 8 ? end : begin + 8;
  const char* p = begin;
  for (; p != most && digit_of(*p) <= 9; ++p) value = value * 10 + digit_of(*p);
  return p;
}

// Two short integers with a point between them, and so few digits that none is ever dropped.
[[gnu::always_inline]] inline bool short_decimal(std::string_view text, ShortDecimal& out) {
  if (text.size() <= 8) return tiny_decimal(text, out);
  if (text.size() > kExactDigits + 1) return false;
  const std::size_t point = find_near(text, '.');
  if (point == std::string_view::npos) return false;
  const std::string_view places = text.substr(point + 1);
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  if (!short_integer(text.substr(0, point), whole) || !short_integer(places, fraction)) {
    return false;
  }
  out = {whole * kPowersOfTen[places.size()] + fraction, places.size()};
  return true;
}

std::int64_t with_sign(std::uint64_t magnitude, bool negative) {
  if (magnitude > static_cast<std::uint64_t>(kMax)) return negative ? kMin : kMax;
  const auto value = static_cast<std::int64_t>(magnitude);
  return negative ? -value : value;
}

// No more places than the unit has.
[[gnu::always_inline]] inline std::int64_t scaled_time(const ShortDecimal& time, TimeUnit unit) {
  const std::size_t missing = static_cast<std::size_t>(unit) - time.places;
  std::uint64_t scaled = 0;
  const bool overflow = __builtin_mul_overflow(time.units, kPowersOfTen[missing], &scaled);
  return overflow ? kMax : with_sign(scaled, false);
}

std::int64_t scaled_time(const Decimal& time, TimeUnit unit) {
  if (time.mantissa == 0) return 0;
  const int shift = time.exponent + static_cast<int>(unit);
  if (shift == 0) return with_sign(time.mantissa + (time.half ? 1 : 0), time.negative);
  if (shift > 0) {
    std::uint64_t scaled = 0;
    const bool overflow =
        shift >= static_cast<int>(kPowersOfTen.size()) ||
        __builtin_mul_overflow(time.mantissa, kPowersOfTen[static_cast<std::size_t>(shift)],
                               &scaled);
    return with_sign(overflow ? std::numeric_limits<std::uint64_t>::max() : scaled, time.negative);
  }
  if (-shift >= static_cast<int>(kPowersOfTen.size())) return 0;
  const std::uint64_t divisor = kPowersOfTen[static_cast<std::size_t>(-shift)];
  const std::uint64_t rest = time.mantissa % divisor;
  const std::uint64_t whole = time.mantissa / divisor + (rest >= divisor - rest ? 1 : 0);
  return with_sign(whole, time.negative);
}

// read_time_ns() for all numbers that are not short; few are.
[[gnu::noinline]] bool read_decimal_time_ns(std::string_view text, TimeUnit unit,
                                            std::int64_t& ns) {
  const std::optional<Decimal> decimal = read_decimal(text);
  if (!decimal) return false;
  ns = scaled_time(*decimal, unit);
  return true;
}

// read_number() for them.
[[gnu::noinline]] bool read_long_number(std::string_view text, double& number) {
  const std::optional<Decimal> decimal = read_decimal(text);
  if (!decimal) return false;
  const bool exact = decimal->mantissa < (std::uint64_t{1} << 53U) && !decimal->dropped &&
                     decimal->exponent <= 0 && decimal->exponent >= -22;
  if (exact) {  // one correctly rounded division of two exact doubles
    number = static_cast<double>(decimal->mantissa) /
             kExactDoubles[static_cast<std::size_t>(-decimal->exponent)];
    if (decimal->negative) number = -number;
    return true;
  }
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{};
}

}  // namespace

bool read_time_ns(std::string_view text, TimeUnit unit, std::int64_t& ns) {
  if (has_leading_zero(text)) return false;
  ShortDecimal time;
  const bool has_fraction = unit == TimeUnit::seconds;
  const bool is_short =
      (!has_fraction && short_integer(text, time.units)) ||
      (short_decimal(text, time) && time.places <= static_cast<std::size_t>(unit));
  if (!is_short) return read_decimal_time_ns(text, unit, ns);
  ns = scaled_time(time, unit);
  return true;
}

bool read_digits(std::string_view text, std::int64_t& number) {
  std::uint64_t value = 0;
  if (!short_integer(text, value)) {
    if (text.empty() || text.size() > kExactDigits) return false;
    value = 0;
    for (const char c : text) {
      const unsigned digit = digit_of(c);
      if (digit > 9) return false;
      value = value * 10 + digit;
    }
  }
  if (value > static_cast<std::uint64_t>(kMax)) return false;
  number = static_cast<std::int64_t>(value);
  return true;
}

const char* read_leading_digits(const char* begin, const char* end, std::int64_t& number) {
  std::uint64_t value = 0;
  const char* behind = read_up_to_eight(begin, end, value);
  if (behind - begin == 8) {
    std::uint64_t low = 0;
    behind = read_up_to_eight(begin + 8, end, low);
    value = value * kPowersOfTen[static_cast<std::size_t>(behind - begin - 8)] + low;
  }
  number = static_cast<std::int64_t>(value);
  const std::ptrdiff_t count = behind - begin;
  const bool longer = count == 16 && behind != end && is_digit(*behind);
  const bool none = count == 0 || (*begin == '0' && count > 1);
  return none || longer ? nullptr : behind;
}

bool read_integer(std::string_view token, std::int64_t& number) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  if (has_leading_zero(token)) return false;
  const bool negative = token.starts_with('-');
  if (negative) token.remove_prefix(1);
  if (!read_digits(token, number)) return false;
  if (negative) number = -number;
  return true;
}

bool read_number(std::string_view text, double& number) {
  if (has_leading_zero(text)) return false;
  ShortDecimal decimal;
  if (text.size() <= 16 && short_decimal(text, decimal)) {
    // Fewer than 2^53 units: one correctly rounded division of two exact doubles.
    number = static_cast<double>(decimal.units) / kExactDoubles[decimal.places];
  } else if (text == "NaN") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (text == "Infinity") {
    number = std::numeric_limits<double>::infinity();
  } else if (text == "-Infinity") {
    number = -std::numeric_limits<double>::infinity();
  } else {
    return read_long_number(text, number);
  }
  return true;
}

std::optional<double> number_in_json(std::string_view token) {
  const bool quoted = token.size() > 2 && token.front() == '"' && token.back() == '"';
  const std::string_view word = quoted ? token.substr(1, token.size() - 2) : token;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (word == "NaN" || word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity" || word == "inf") return kInfinity;
  if (word == "-Infinity" || word == "-inf") return -kInfinity;
  return quoted ? std::nullopt : parse_number(token);
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? kMin : kMax;
}

}  // namespace trainwatch

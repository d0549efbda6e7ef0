// SPDX-License-Identifier: Apache-2.0
#include "rules/format.h"

#include <charconv>
#include <cmath>

namespace trainwatch::format {

std::string figure(double number) {
  const double size = std::fabs(number);
  const bool whole = size >= 100 && size < 1e15;
  char out[48];
  const auto end =
      whole ? std::to_chars(out, out + sizeof out, number, std::chars_format::fixed, 0)
            : std::to_chars(out, out + sizeof out, number, std::chars_format::general, 3);
  return {out, end.ptr};
}

std::string seconds(double number) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  const double size = std::fabs(number);
  if (size != 0 && size < 1e-3) return figure(number * 1e6) + " us";
  if (size != 0 && size < 1) return figure(number * 1e3) + " ms";
  if (size < 2 * kMinute) return figure(number) + " s";
  if (size < 2 * kHour) return figure(number / kMinute) + " min";
  return figure(number / kHour) + " h";
}

std::string percent(double number) {
  return figure(number) + " %";
}

std::string saving(double share) {
  constexpr double kMost = 0.9;
  if (!(share > 0 && share <= kMost)) return {};
  return "; without that, training would be " + figure(1 / (1 - share)) + "x faster";
}

std::string ordinal(std::int64_t n) {
  const std::int64_t tens = n / 10 % 10;
  const std::int64_t ones = n % 10;
  const char* ending = "th";
  if (tens != 1 && ones == 1) ending = "st";
  if (tens != 1 && ones == 2) ending = "nd";
  if (tens != 1 && ones == 3) ending = "rd";
  return std::to_string(n) + ending;
}

std::string cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  return std::string(text.substr(0, limit)) + "...";
}

}  // namespace trainwatch::format

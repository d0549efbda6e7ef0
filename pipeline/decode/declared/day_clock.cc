// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/day_clock.h"

#include <algorithm>
#include <cstddef>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostBeforeClock = 96;
constexpr double kSecondsOfDay = 86400;

bool is_of_time(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ':' || c == '.';
}

// "eta: ", "ETA ", "remaining ", "left: "
bool is_remaining_time(std::string_view before) {
  before = before.substr(0, before.find_last_not_of(" :=([") + 1);
  constexpr std::string_view kWords[] = {"eta", "ETA", "Eta", "remaining", "left", "remain"};
  return std::ranges::any_of(kWords,
                             [before](std::string_view word) { return before.ends_with(word); });
}

// "14:03:22.5" at the beginning of `text`.
std::optional<double> time_of_day(std::string_view text) {
  const std::size_t hours = text.find(':');
  if (hours == std::string_view::npos || hours == 0 || hours > 2 || text.size() < hours + 6)
    return std::nullopt;
  const auto hour = parse_digits(text.substr(0, hours));
  const auto minute = parse_digits(text.substr(hours + 1, 2));
  const auto second = parse_digits(text.substr(hours + 4, 2));
  const bool fits = hour && minute && second && text[hours + 3] == ':' && *hour < 24 &&
                    *minute < 60 && *second < 61;
  if (!fits) return std::nullopt;
  double seconds = static_cast<double>((*hour * 60 + *minute) * 60 + *second);
  double unit = 0.1;
  std::size_t at = hours + 6;
  if (at < text.size() && is_of_time(text[at]) && text[at] != '.') return std::nullopt;
  const bool fraction = at < text.size() && (text[at] == '.' || text[at] == ',');
  for (at += 1; fraction && at < text.size() && is_digit(text[at]); ++at, unit /= 10) {
    seconds += unit * (text[at] - '0');
  }
  return seconds;
}

}  // namespace

std::optional<double> DayClock::read(std::string_view line) {
  for (std::size_t at = 0; at < std::min(line.size(), kMostBeforeClock); ++at) {
    if (!is_digit(line[at]) || (at > 0 && is_of_time(line[at - 1]))) continue;
    const auto found = time_of_day(line.substr(at));
    if (!found || is_remaining_time(line.substr(0, at))) continue;
    if (*found < last_ - kSecondsOfDay / 2) ++days_;
    last_ = *found;
    return days_ * kSecondsOfDay + *found;
  }
  return std::nullopt;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Points in time and durations: integer nanoseconds from the decoder inwards.
//
// `Time` is unix time (UTC). Formats that carry microsecond decimals are parsed to integers at the
// edge (pipeline/decode), never through double: a double has 0.25 us granularity today.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainwatch {

using Nanos = std::chrono::nanoseconds;
using Time = std::chrono::sys_time<Nanos>;

// "Not known": earlier than every real time.
inline constexpr Time kNoTime{Nanos{std::numeric_limits<std::int64_t>::min()}};

// Of a time that was loaded: no event has another.
constexpr bool is_possible(Time time) {
  return time == kNoTime || time >= Time{};
}

constexpr Time time_from_ns(std::int64_t unix_ns) {
  return Time{Nanos{unix_ns}};
}
constexpr std::int64_t to_ns(Time t) {
  return t.time_since_epoch().count();
}
constexpr double to_seconds(Nanos d) {
  return static_cast<double>(d.count()) / 1e9;
}
// Beyond nine thousand million seconds, the limit.
constexpr Nanos from_seconds(double seconds) {
  constexpr double kMost = 9e9;
  return Nanos{static_cast<std::int64_t>(std::clamp(seconds, -kMost, kMost) * 1e9)};
}
constexpr double to_seconds(Time t) {
  return to_seconds(t.time_since_epoch());
}

// RFC 3339 in UTC with microseconds, "2026-11-21T06:30:00.123456Z"; kNoTime gives "".
inline std::string to_rfc3339(Time t) {
  if (t == kNoTime) return {};
  const auto midnight = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day day{midnight};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::microseconds>(t - midnight)};
  std::string text = "0000-00-00T00:00:00.000000Z";
  const auto number = [&text](std::size_t end, std::int64_t value) {
    for (; value > 0; value /= 10) text[--end] = static_cast<char>('0' + value % 10);
  };
  number(4, static_cast<int>(day.year()));
  number(7, static_cast<unsigned>(day.month()));
  number(10, static_cast<unsigned>(day.day()));
  number(13, clock.hours().count());
  number(16, clock.minutes().count());
  number(19, clock.seconds().count());
  number(26, clock.subseconds().count());
  return text;
}

// What to_rfc3339() prints, with 0 to 9 digits behind the second; kNoTime for anything else.
inline Time time_from_rfc3339(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() <= kForm.size() || !text.ends_with('Z')) return kNoTime;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return kNoTime;
  }
  const auto number = [text](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char digit : text.substr(at, digits)) value = 10 * value + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const bool held = number(0, 4) >= 1970 && number(0, 4) <= 2261;  // by nanoseconds in 64 bits
  if (!held || !day.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60)
    return kNoTime;
  Nanos rest{};
  Nanos unit = std::chrono::milliseconds(100);
  for (const char digit : text.substr(kForm.size(), text.size() - kForm.size() - 1)) {
    if (digit == '.') continue;
    if (digit < '0' || digit > '9') return kNoTime;
    rest += (digit - '0') * unit;
    unit /= 10;
  }
  return Time{std::chrono::sys_days(day)} + std::chrono::hours(number(11, 2)) +
         std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)) + rest;
}

}  // namespace trainwatch

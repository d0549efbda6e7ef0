// Points in time and durations: integer nanoseconds from the decoder inwards.
//
// `Time` is unix time (UTC). Formats that carry microsecond decimals are parsed to integers at the
// edge (pipeline/decode), never through double: a double has 0.25 us granularity today.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
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
  const auto whole = std::chrono::floor<std::chrono::seconds>(t);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(t - whole).count();
  const std::time_t seconds = whole.time_since_epoch().count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[48];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + n, sizeof text - n, ".%06dZ", static_cast<int>(micros));
  return text;
}

// What to_rfc3339() prints, with 0 to 9 digits behind the second; kNoTime for anything else.
inline Time time_from_rfc3339(std::string_view text) {
  std::tm utc{};
  int read = 0;
  const std::string whole(text.substr(0, 40));
  const int fields =
      std::sscanf(whole.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &utc.tm_year, &utc.tm_mon,
                  &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &read);
  if (fields != 6 || !whole.ends_with('Z')) return kNoTime;
  const std::chrono::year_month_day day{std::chrono::year(utc.tm_year),
                                        std::chrono::month(static_cast<unsigned>(utc.tm_mon)),
                                        std::chrono::day(static_cast<unsigned>(utc.tm_mday))};
  if (!day.ok() || utc.tm_hour > 23 || utc.tm_min > 59 || utc.tm_sec > 60) return kNoTime;
  std::int64_t nanos = 0;
  std::int64_t unit = 1'000'000'000;
  for (const char digit : whole.substr(static_cast<std::size_t>(read))) {
    if (digit < '0' || digit > '9') continue;
    unit /= 10;
    nanos += (digit - '0') * unit;
  }
  return Time{std::chrono::sys_days(day)} + std::chrono::hours(utc.tm_hour) +
         std::chrono::minutes(utc.tm_min) + std::chrono::seconds(utc.tm_sec) + Nanos(nanos);
}

}  // namespace trainwatch

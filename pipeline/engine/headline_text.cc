// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/headline_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace trainwatch {
namespace {

constexpr double kMinuteSeconds = 60;
constexpr double kHourSeconds = 3600;
constexpr double kDaySeconds = 86400;
constexpr auto kHalfAYear = std::chrono::hours(24 * 182);

// Two significant digits below ten, none behind the point above.
std::string short_figure(double number) {
  char text[48];
  const int decimals = number >= 9.95 ? 0 : number >= 0.095 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f", decimals, number);
  return text;
}

std::tm local_time(Time time, const Zone& zone) {
  const auto local = std::chrono::floor<std::chrono::seconds>(time) + zone.offset;
  const std::time_t seconds = local.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

std::string two_units(double seconds, double large, const char* large_name, double small,
                      const char* small_name) {
  const double whole = std::floor(seconds / large);
  const auto rest = static_cast<long long>((seconds - whole * large) / small);
  std::string text = std::to_string(static_cast<long long>(whole)) + large_name;
  if (rest > 0) text += " " + std::to_string(rest) + small_name;
  return text;
}

}  // namespace

std::string grouped_digits(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string duration_words(Nanos duration) {
  const double seconds = std::max(to_seconds(duration), 0.0);
  if (seconds == 0) return "0 s";
  if (seconds < 2 * kMinuteSeconds) return short_figure(seconds) + " s";
  if (seconds < kHourSeconds)
    return std::to_string(static_cast<int>(seconds / kMinuteSeconds)) + " min";
  if (seconds < 2 * kDaySeconds)
    return two_units(seconds, kHourSeconds, " h", kMinuteSeconds, " min");
  return two_units(seconds, kDaySeconds, " d", kHourSeconds, " h");
}

std::string gpu_time_words(double seconds) {
  if (seconds < 2 * kMinuteSeconds) return short_figure(seconds) + " GPU seconds";
  if (seconds < 2 * kHourSeconds) return short_figure(seconds / kMinuteSeconds) + " GPU minutes";
  return short_figure(seconds / kHourSeconds) + " GPU hours";
}

std::string rate_words(double seconds_per_step) {
  if (seconds_per_step > 1) return short_figure(seconds_per_step) + " s per step";
  return short_figure(1 / seconds_per_step) + " steps/s";
}

std::string share_words(double share) {
  const double percent = 100 * std::clamp(share, 0.0, 1.0);
  if (percent < 1) return "below 1 %";
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", percent);
  return text;
}

std::string clock_words(Time time, Time now, const Zone& zone) {
  const std::tm then = local_time(time, zone);
  const std::tm today = local_time(now, zone);
  const bool same_year = then.tm_year == today.tm_year;
  const bool same_day = same_year && then.tm_yday == today.tm_yday;
  const bool near = now - time < std::chrono::minutes(10);
  char text[64];
  std::size_t size = 0;
  if (!same_day) size = std::strftime(text, sizeof text, " %b ", &then);
  if (!same_year || now - time > kHalfAYear)
    size += std::strftime(text + size, sizeof text - size, "%Y ", &then);
  size += std::strftime(text + size, sizeof text - size, "%H:%M", &then);
  if (near) size += std::strftime(text + size, sizeof text - size, ":%S", &then);
  const std::string day = same_day ? std::string() : std::to_string(then.tm_mday);
  return day + std::string(text, size) + " " + zone.name;
}

std::string fill_headline(std::string_view text, Time since, Time now, const Zone& zone,
                          Time today) {
  std::string filled(text);
  if (since == kNoTime) return filled;
  replace_all(filled, "{since}", clock_words(since, std::max(now, today), zone));
  replace_all(filled, "{for}", duration_words(now - since));
  return filled;
}

}  // namespace trainwatch

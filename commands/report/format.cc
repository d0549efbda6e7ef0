// SPDX-License-Identifier: Apache-2.0
#include "commands/report/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "trainwatch/time.h"

namespace trainwatch::report_format {
namespace {

constexpr const char* kUnknown = "\xE2\x80\x93";  // a dash

// "-1234567.8" -> "-1,234,567.8"
std::string with_separators(std::string digits) {
  std::size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = end; at > begin + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string fixed(double number, int decimals) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

std::string of_clock(double larger, const char* large, double smaller, const char* small) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.0f %s %02.0f %s", larger, large, smaller, small);
  return text.data();
}

}  // namespace

std::string count(double number) {
  return std::isfinite(number) ? with_separators(fixed(number, 0)) : kUnknown;
}

std::string figure(double number) {
  if (!std::isfinite(number)) return kUnknown;
  const double size = std::abs(number);
  if (number == std::trunc(number)) return count(number);
  if (size >= 99.95) return with_separators(fixed(number, 0));
  if (size >= 9.995) return fixed(number, 1);
  if (size >= 0.9995) return fixed(number, 2);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", number);
  return text.data();
}

std::string percent(double number) {
  return std::isfinite(number) ? fixed(number, 1) + " %" : kUnknown;
}

std::string duration(double microseconds) {
  if (!std::isfinite(microseconds)) return kUnknown;
  const double seconds = microseconds / 1e6;
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 999.5e-6) return figure(microseconds) + " \xC2\xB5s";
  if (size < 0.9995) return figure(microseconds / 1e3) + " ms";
  if (size < 59.95) return figure(seconds) + " s";
  if (size < 3599.5) {
    const double whole = std::round(seconds);
    return of_clock(std::floor(whole / 60), "min", std::fmod(whole, 60), "s");
  }
  const double minutes = std::round(seconds / 60);
  return with_separators(fixed(std::trunc(minutes / 60), 0)) +
         of_clock(0, "h", std::abs(std::fmod(minutes, 60)), "min").substr(1);
}

std::string bytes(double number) {
  constexpr std::array<const char*, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  if (!std::isfinite(number)) return kUnknown;
  std::size_t unit = 0;
  while (std::abs(number) >= 1023.5 && unit + 1 < kUnits.size()) {
    number /= 1024;
    ++unit;
  }
  return (unit == 0 ? count(number) : figure(number)) + kUnits[unit];
}

std::string moment(double unix_us) {
  if (!std::isfinite(unix_us) || std::abs(unix_us) > 9e15) return kUnknown;
  std::string text = to_rfc3339(time_from_ns(static_cast<std::int64_t>(unix_us) * 1000));
  const std::size_t separator = text.find('T');
  if (separator != std::string::npos) text[separator] = ' ';
  return text.substr(0, text.find('.') + 4);
}

std::string exact(double number) {
  std::array<char, 400> text{};
  const bool whole = number == std::trunc(number) && std::abs(number) < 1e18;
  const auto format = whole ? std::chars_format::fixed : std::chars_format::general;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, format).ptr};
}

}  // namespace trainwatch::report_format

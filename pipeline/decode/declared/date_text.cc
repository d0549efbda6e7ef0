// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/date_text.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

// A 0 stands for a digit; for the blank there may be a "T" or a "_".
constexpr std::string_view kYearFirst = "0000-00-00 00:00:00";
constexpr std::string_view kYearFirstSlashes = "0000/00/00 00:00:00";
constexpr std::string_view kYearLast = "00/00/0000 00:00:00";
constexpr std::string_view kShortYearLast = "00/00/00 00:00:00";
constexpr std::string_view kDayFirst = "00.00.0000 00:00:00";
constexpr std::string_view kDigits = "00000000-00:00:00";

bool has_form(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const char c = text[i];
    const bool fits = form[i] == '0'   ? is_digit(c)
                      : form[i] == ' ' ? c == ' ' || c == 'T' || c == '_'
                                       : c == form[i];
    if (!fits) return false;
  }
  return true;
}

// As local_time() reads it; empty: no date begins here.
std::string plain_date(std::string_view text) {
  std::string plain(text.substr(0, kYearFirst.size()));
  if (has_form(text, kYearLast)) {
    plain = std::string(text.substr(6, 4)) + '-' + std::string(text.substr(0, 2)) + '-' +
            std::string(text.substr(3, 2)) + std::string(text.substr(10, 9));
  } else if (has_form(text, kShortYearLast)) {
    plain = "20" + std::string(text.substr(6, 2)) + '-' + std::string(text.substr(0, 2)) + '-' +
            std::string(text.substr(3, 2)) + std::string(text.substr(8, 9));
  } else if (has_form(text, kDayFirst)) {
    plain = std::string(text.substr(6, 4)) + '-' + std::string(text.substr(3, 2)) + '-' +
            std::string(text.substr(0, 2)) + std::string(text.substr(10, 9));
  } else if (has_form(text, kDigits)) {
    plain = std::string(text.substr(0, 4)) + '-' + std::string(text.substr(4, 2)) + '-' +
            std::string(text.substr(6, 2)) + ' ' + std::string(text.substr(9, 8));
  } else if (!has_form(text, kYearFirst) && !has_form(text, kYearFirstSlashes)) {
    return {};
  }
  plain[4] = plain[7] = '-';
  plain[10] = ' ';
  return plain;
}

// "02:40:00 PM": the hour of a plain date becomes that of the day.
void take_half_of_day(std::string_view behind, std::string& plain) {
  const bool pm = behind.starts_with(" PM") || behind.starts_with(" pm");
  if (!pm && !behind.starts_with(" AM") && !behind.starts_with(" am")) return;
  const std::int64_t hour = parse_digits(std::string_view(plain).substr(11, 2)).value_or(24);
  if (hour < 1 || hour > 12) return;
  const std::string of_day = std::to_string(hour % 12 + (pm ? 12 : 0));
  plain.replace(11, 2, of_day.size() < 2 ? "0" + of_day : of_day);
}

// "Z", "+02:00" or "+0200" at the beginning of `text`. nullopt: the local zone.
std::optional<Nanos> zone_at(std::string_view text) {
  if (text.starts_with('Z')) return Nanos{};
  if (text.size() < 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto hours = parse_digits(text.substr(1, 2));
  const auto minutes = parse_digits(text.substr(text[3] == ':' ? 4 : 3, 2));
  if (!hours || *hours > 14 || !minutes || *minutes > 59) return std::nullopt;
  const Nanos east = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  return text[0] == '-' ? -east : east;
}

// Of a plain date in UTC.
std::optional<Time> time_in_utc(std::string_view plain) {
  const auto number = [plain](std::size_t at, std::size_t size) {
    return static_cast<unsigned>(parse_digits(plain.substr(at, size)).value_or(0));
  };
  const std::chrono::year_month_day day{std::chrono::year{static_cast<int>(number(0, 4))},
                                        std::chrono::month{number(5, 2)},
                                        std::chrono::day{number(8, 2)}};
  if (!day.ok()) return std::nullopt;
  const Nanos within = std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
                       std::chrono::seconds(number(17, 2));
  return Time{std::chrono::sys_days{day}.time_since_epoch() + within};
}

}  // namespace

bool begins_with_date(std::string_view text) {
  return has_form(text, kYearFirst) || has_form(text, kYearFirstSlashes) ||
         has_form(text, kYearLast) || has_form(text, kShortYearLast) || has_form(text, kDayFirst) ||
         has_form(text, kDigits);
}

std::optional<Time> date_at(std::string_view text, Time after) {
  std::string plain = plain_date(text);
  if (plain.empty()) return std::nullopt;
  const bool is_short = has_form(text, kShortYearLast) || has_form(text, kDigits);
  const std::size_t behind = plain.size() - (is_short ? 2 : 0);
  std::size_t end = behind;
  if (end < text.size() && (text[end] == '.' || text[end] == ',')) ++end;
  while (end > behind && end < text.size() && is_digit(text[end])) ++end;
  plain.append(text.substr(behind, end - behind));
  take_half_of_day(text.substr(end), plain);
  const auto local = local_time(plain, after);
  const auto zone = zone_at(text.substr(end));
  if (!local || !zone) return local;
  const auto utc = time_in_utc(plain);
  if (!utc) return std::nullopt;
  return *utc + (*local - std::chrono::floor<std::chrono::seconds>(*local)) - *zone;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/scalar_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/date_text.h"
#include "trainwatch/subject.h"

namespace trainwatch {
namespace {

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void skip(std::string_view& text, std::string_view any) {
  std::size_t count = 0;
  while (count < text.size() && std::ranges::find(any, text[count]) != any.end()) ++count;
  text.remove_prefix(count);
}

// How much of `text` is a number with commas between thousands.
struct Digits {
  std::array<char, 40> text{};
  std::size_t size = 0;
  std::size_t read = 0;
};

Digits digits_of(std::string_view text) {
  Digits digits;
  bool whole = true;  // before a point
  for (; digits.read < text.size() && digits.size < digits.text.size(); ++digits.read) {
    const char c = text[digits.read];
    const bool sign =
        (c == '-' || c == '+') && (digits.size == 0 || digits.text[digits.size - 1] == 'e' ||
                                   digits.text[digits.size - 1] == 'E');
    if (c == ',') {
      const std::string_view next = text.substr(digits.read + 1);
      const std::size_t group = std::min(next.find_first_not_of("0123456789"), next.size());
      if (!whole || digits.size == 0 || group != 3) break;
      continue;
    }
    const bool exponent = (c == 'e' || c == 'E') && digits.size > 0;
    if (!is_digit(c) && c != '.' && !sign && !exponent) break;
    whole = whole && !exponent && c != '.';
    if (c == '+' && digits.size == 0) continue;  // from_chars knows none
    digits.text[digits.size++] = c;
  }
  return digits;
}

// As a word of its own: "INFO", "InfoNCE" and "nano" are none.
std::optional<double> word_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::array<char, 9> lower{};  // one more than the longest word
  std::size_t size = 0;
  for (; size < std::min(text.size(), lower.size()); ++size) {
    if (!is_word(text[size]) && text[size] != '-') break;
    lower[size] = static_cast<char>(text[size] | 0x20);
  }
  const std::string_view word{lower.data(), size};
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word != "inf" && word != "infinity") return std::nullopt;
  return negative ? -HUGE_VAL : HUGE_VAL;
}

// The length in seconds of the unit at the beginning of `text`; 1 if there is no unit of time.
double seconds_of_unit(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"us", 1e-6},    {"ms", 1e-3},    {"m", 60},      {"min", 60},
                             {"mins", 60},    {"minutes", 60}, {"h", 3600},    {"hr", 3600},
                             {"hours", 3600}, {"d", 86400},    {"minute", 60}, {"hour", 3600},
                             {"hrs", 3600},   {"day", 86400},  {"days", 86400}};
  std::size_t size = 0;
  while (size < text.size() && is_word(text[size]) && !is_digit(text[size])) ++size;
  const auto* const unit = std::ranges::find(kUnits, text.substr(0, size), &Unit::name);
  return unit == std::end(kUnits) ? 1 : unit->seconds;
}

double unit_of(std::string_view text, ScalarKind kind) {
  struct Unit {
    std::string_view name;
    double factor;
  };
  constexpr Unit kBytes[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
                             {"GB", 1e9},      {"MB", 1e6},      {"kB", 1e3}};
  if (kind == ScalarKind::mfu_ratio) return text.starts_with('%') ? 0.01 : 1;
  const bool duration = kind == ScalarKind::step_seconds || kind == ScalarKind::data_seconds ||
                        kind == ScalarKind::elapsed_seconds;
  if (duration && text.starts_with(' ')) text.remove_prefix(1);
  if (duration) return seconds_of_unit(text);
  if (kind != ScalarKind::memory_bytes) return 1;
  skip(text, " ");
  for (const Unit& unit : kBytes) {
    if (text.starts_with(unit.name)) return unit.factor;
  }
  return 1;
}

// Of a second, behind a point or a comma.
Nanos fraction_of(std::string_view text) {
  std::int64_t fraction = 0;
  std::int64_t unit = 100'000'000;
  for (std::size_t i = 1; i < text.size() && is_digit(text[i]) && unit > 0; ++i, unit /= 10) {
    fraction += unit * (text[i] - '0');
  }
  return Nanos{fraction};
}

// "0:01:40", "01:40", "2 days, 0:01:40".
std::optional<double> clock_seconds(std::string_view text) {
  double days = 0;
  const std::size_t day = text.find(" day");
  const std::size_t comma = text.find(", ");
  if (day != std::string_view::npos && comma != std::string_view::npos && day < comma) {
    const auto number = parse_digits(text.substr(0, day));
    if (!number) return std::nullopt;
    days = static_cast<double>(*number);
    text.remove_prefix(comma + 2);
  }
  double seconds = 0;
  int parts = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;; ++parts, ++at) {
    double number = 0;
    const auto [stop, error] = std::from_chars(at, end, number, std::chars_format::fixed);
    if (error != std::errc{} || !(number >= 0)) return std::nullopt;
    seconds = seconds * 60 + number;
    at = stop;
    if (at == end || *at != ':') break;
  }
  const bool clock = parts == 1 || parts == 2;
  return clock ? std::optional(days * 86400 + seconds) : std::nullopt;
}

// "1h 2m 3s", "0m12.5s"; nullopt: fewer than two parts.
std::optional<double> spelled_seconds(std::string_view text) {
  double seconds = 0;
  int parts = 0;
  for (double last = HUGE_VAL; !text.empty() && is_digit(text.front()); ++parts) {
    double number = 0;
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) break;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    const bool named = !text.empty() && is_word(text.front());
    const double unit = seconds_of_unit(text);
    if (!named || unit >= last) break;
    last = unit;
    seconds += number * unit;
    while (!text.empty() && is_word(text.front()) && !is_digit(text.front())) text.remove_prefix(1);
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  return parts >= 2 ? std::optional(seconds) : std::nullopt;
}

std::int32_t rank_at(std::string_view text) {
  const auto digits = text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
  const auto rank = parse_digits(digits);
  return rank && *rank < (1 << 24) ? static_cast<std::int32_t>(*rank) : kNoRank;
}

bool reads_as(std::time_t seconds, const std::tm& local) {
  std::tm read{};
  return ::localtime_r(&seconds, &read) != nullptr && read.tm_mday == local.tm_mday &&
         read.tm_hour == local.tm_hour && read.tm_min == local.tm_min;
}

// When summer time ends, an hour occurs twice: takes the first that is not before `after`.
std::time_t in_order(std::time_t seconds, const std::tm& local, Time after) {
  constexpr std::time_t kHour = 3600;
  constexpr auto kDisorder = std::chrono::seconds(120);  // of lines
  const bool is_second = reads_as(seconds - kHour, local);
  if (!is_second && !reads_as(seconds + kHour, local)) return seconds;
  const std::time_t first = is_second ? seconds - kHour : seconds;
  const bool again = after != kNoTime && after > Time{std::chrono::seconds(first)} + kDisorder;
  return again ? first + kHour : first;
}

}  // namespace

std::optional<double> scalar_at(std::string_view text, ScalarKind kind) {
  skip(text, " \t");
  skip(text, "'\"[");
  if (kind == ScalarKind::elapsed_seconds) {
    if (const auto seconds = clock_seconds(text)) return seconds;
  }
  if (kind == ScalarKind::elapsed_seconds || kind == ScalarKind::step_seconds) {
    if (const auto seconds = spelled_seconds(text)) return seconds;
  }
  const Digits digits = digits_of(text);
  if (digits.size == 0 || (digits.size == 1 && digits.text[0] == '-')) return word_of(text);
  double value = 0;
  const char* const end = digits.text.data() + digits.size;
  const auto [stop, error] = std::from_chars(digits.text.data(), end, value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  return value * (stop == end ? unit_of(text.substr(digits.read), kind) : 1);
}

bool begins_with_scalar(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  const bool digit = first != std::string_view::npos && is_digit(text[first]);
  return digit || scalar_at(text, ScalarKind::other).has_value();
}

std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const void* const found =
      ::memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::optional<std::size_t> place_of_scalar(std::string_view line, std::string_view key,
                                           bool blanks) {
  for (std::size_t at = find_text(line, key); at != std::string_view::npos;
       at = find_text(line, key, at + 1)) {
    if (at > 0 && (is_word(line[at - 1]) || line[at - 1] == '/')) continue;
    std::string_view rest = line.substr(at + key.size());
    if (rest.starts_with('\'') || rest.starts_with('"')) rest.remove_prefix(1);
    const std::size_t before = rest.size();
    skip(rest, blanks ? " \t" : " ");
    if (rest.empty()) continue;
    const bool sign = rest.front() == ':' || rest.front() == '=';
    if (!sign && !(blanks && rest.size() < before)) continue;
    if (sign) rest.remove_prefix(1);
    if (begins_with_scalar(rest)) return line.size() - rest.size();
  }
  return std::nullopt;
}

std::optional<Time> local_time(std::string_view text, Time after) {
  std::array<int, 6> parts{};
  const char* at = text.data();
  const char* const end = at + text.size();
  constexpr std::string_view kBehind = "-- ::";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc{}) return std::nullopt;
    at = stop;
    if (i == kBehind.size()) break;
    if (at == end || *at != kBehind[i]) return std::nullopt;
    ++at;
  }
  // Beyond, nanoseconds since 1970 do not fit, or no training was.
  constexpr int kFirstYear = 1970;
  constexpr int kLastYear = 2200;
  if (parts[0] < kFirstYear || parts[0] > kLastYear) return std::nullopt;
  std::tm local{};
  local.tm_year = parts[0] - 1900;
  local.tm_mon = parts[1] - 1;
  local.tm_mday = parts[2];
  local.tm_hour = parts[3];
  local.tm_min = parts[4];
  local.tm_sec = parts[5];
  local.tm_isdst = -1;
  std::time_t seconds = std::mktime(&local);
  if (seconds == -1) return std::nullopt;
  seconds = in_order(seconds, local, after);
  const Nanos fraction = fraction_of({at, static_cast<std::size_t>(end - at)});
  return time_from_ns(std::int64_t{seconds} * 1'000'000'000) + fraction;
}

std::optional<Time> LocalClock::read(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return local_time(text);
  const std::string_view minute = text.substr(0, colon);
  if (minute_ != minute) {
    const auto begins = local_time(std::string(minute) + ":0", latest_);
    if (!begins) return std::nullopt;
    minute_ = minute;
    begins_ = *begins;
  }
  int seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, seconds);
  if (error != std::errc{}) return std::nullopt;
  latest_ = begins_ + std::chrono::seconds(seconds) +
            fraction_of({stop, static_cast<std::size_t>(end - stop)});
  return latest_;
}

std::optional<Time> LocalClock::read_any(std::string_view text) {
  if (begins_with_date(text)) {
    const auto date = date_at(text, latest_);
    latest_ = date.value_or(latest_);
    return date;
  }
  const auto number = parse_number(text);
  // Of 2001 or later: smaller numbers count from something else.
  constexpr double kEarliest = 1e9;
  if (!number || !(*number >= kEarliest)) return std::nullopt;
  TimeUnit unit = TimeUnit::seconds;
  if (*number >= kEarliest * 1e3) unit = TimeUnit::milliseconds;
  if (*number >= kEarliest * 1e6) unit = TimeUnit::microseconds;
  if (*number >= kEarliest * 1e9) unit = TimeUnit::nanoseconds;
  const auto ns = parse_time_ns(text, unit);
  return ns ? std::optional(time_from_ns(*ns)) : std::nullopt;
}

std::int32_t rank_of_line(std::string_view line) {
  for (const std::string_view prefix : {"[rank", "[default"}) {
    if (line.starts_with(prefix)) return rank_at(line.substr(prefix.size()));
  }
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool numbered = digits != std::string_view::npos && digits > 0 && digits < 7 &&
                        line.substr(digits).starts_with(": ");
  return numbered ? rank_at(line) : kNoRank;
}

std::int32_t rank_of_log(std::string_view path) {
  for (const std::string_view word : {"global_rank_", "globalrank-", "rank_", "rank-", "rank"}) {
    for (std::size_t at = path.rfind(word); at != std::string_view::npos;) {
      const std::int32_t rank = rank_at(path.substr(at + word.size()));
      if (rank != kNoRank) return rank;
      at = at > 0 ? path.rfind(word, at - 1) : std::string_view::npos;
    }
  }
  const std::size_t attempt = path.rfind("/attempt_");
  if (attempt == std::string_view::npos) return kNoRank;
  const std::size_t slash = path.find('/', attempt + 1);
  return slash == std::string_view::npos ? kNoRank : rank_at(path.substr(slash + 1));
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/line_prefix.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

constexpr Nanos kZone = std::chrono::hours(1);
constexpr std::size_t kMostPrefix = 64;  // bytes before the time of a logger
constexpr std::string_view kDate = "0000-00-00 00:00:00";

// Of a digit or of the sign that the date has there; a "T" or "_" may stand for the blank.
bool is_date(std::string_view text) {
  if (text.size() < kDate.size()) return false;
  for (std::size_t i = 0; i < kDate.size(); ++i) {
    const char c = text[i];
    const bool fits = kDate[i] == '0'   ? is_digit(c)
                      : kDate[i] == ' ' ? c == ' ' || c == 'T' || c == '_'
                                        : c == kDate[i];
    if (!fits) return false;
  }
  return true;
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

// Behind is_date().
std::optional<Time> date_at(std::string_view text) {
  const std::size_t behind = kDate.size();
  std::size_t end = behind;
  if (end < text.size() && (text[end] == '.' || text[end] == ',')) ++end;
  while (end > behind && end < text.size() && is_digit(text[end])) ++end;
  std::string plain(text.substr(0, end));
  plain[10] = ' ';
  const auto local = local_time(plain);
  const auto zone = zone_at(text.substr(end));
  if (!local || !zone) return local;
  const auto number = [&plain](std::size_t at, std::size_t size) {
    return static_cast<unsigned>(
        parse_digits(std::string_view(plain).substr(at, size)).value_or(0));
  };
  const std::chrono::year_month_day day{std::chrono::year{static_cast<int>(number(0, 4))},
                                        std::chrono::month{number(5, 2)},
                                        std::chrono::day{number(8, 2)}};
  if (!day.ok()) return std::nullopt;
  const Nanos within = std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
                       std::chrono::seconds(number(17, 2));
  const Nanos fraction = *local - std::chrono::floor<std::chrono::seconds>(*local);
  return Time{std::chrono::sys_days{day}.time_since_epoch() + within + fraction - *zone};
}

// At the beginning of a message, or behind what says that it is one.
std::optional<Time> date_of(std::string_view message) {
  constexpr std::array<std::string_view, 3> kBefore = {" AT ", "datetime: ", "  time      : "};
  for (const std::string_view before : kBefore) {
    const std::size_t at = find_text(message, before);
    if (at == std::string_view::npos) continue;
    if (is_date(message.substr(at + before.size()))) {
      return date_at(message.substr(at + before.size()));
    }
  }
  for (std::size_t at = 0; at < std::min(message.size(), kMostPrefix); ++at) {
    if (is_date(message.substr(at))) return date_at(message.substr(at));
  }
  return std::nullopt;
}

std::string clock_behind(std::string_view day, std::string_view rest) {
  const std::string_view clock = rest.substr(0, rest.find_first_not_of("0123456789:."));
  const bool fits = clock.size() >= 8 && clock[2] == ':' && clock[5] == ':';
  return fits ? std::string(day) + " " + std::string(clock) : std::string{};
}

// "E0921 14:18:00.100 4242 api:988] ..." and "[E1112 03:14:10.400 ProcessGroupNCCL.cpp:632]".
std::string glog_clock(std::string_view message) {
  for (const std::string_view before : {"^C", "["}) {
    if (message.starts_with(before)) message.remove_prefix(before.size());
  }
  constexpr std::string_view kSeverities = "IWEFV";
  if (message.empty() || kSeverities.find(message.front()) == std::string_view::npos) return {};
  message.remove_prefix(1);
  const std::size_t digits = std::min(message.find(' '), message.size());
  if (digits < 3 || digits > 4 || !parse_digits(message.substr(0, digits))) return {};
  const std::string day =
      std::string(message.substr(0, digits - 2)) + "-" + std::string(message.substr(digits - 2, 2));
  return clock_behind(day, message.substr(std::min(digits + 1, message.size())));
}

// "Sep 21 14:22:01 n12 kernel: ..."
std::string syslog_clock(std::string_view message) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (message.size() < 16 || message[3] != ' ') return {};
  const std::size_t month = kMonths.find(message.substr(0, 3));
  if (month == std::string_view::npos || month % 3 != 0) return {};
  const std::string_view day = message.substr(message[4] == ' ' ? 5 : 4, message[4] == ' ' ? 1 : 2);
  if (!parse_digits(day)) return {};
  return clock_behind(std::to_string(month / 3 + 1) + "-" + std::string(day), message.substr(7));
}

// "[Mon Sep 21 14:22:01 2026] ..." of `dmesg -T`.
std::optional<Time> kernel_date(std::string_view message) {
  constexpr std::size_t kSize = std::string_view{"[Mon Sep 21 14:22:01 2026]"}.size();
  if (message.size() < kSize || message[0] != '[' || message[kSize - 1] != ']') return std::nullopt;
  const std::string clock = syslog_clock(message.substr(5));
  const auto year = parse_digits(message.substr(kSize - 5, 4));
  return clock.empty() || !year ? std::nullopt : local_time(std::to_string(*year) + "-" + clock);
}

// "2026-09-21T14:13:22.101202303Z stderr F "
void skip_kubelet(std::string_view& line) {
  if (!is_date(line)) return;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line[blank - 1] != 'Z') return;
  for (const std::string_view stream : {" stderr ", " stdout "}) {
    const std::string_view rest = line.substr(blank);
    if (!rest.starts_with(stream) || rest.size() < stream.size() + 2) continue;
    line = rest.substr(stream.size() + 2);
    return;
  }
}

// "[3/1]": the rank, and the one on its node.
std::int32_t rank_in_brackets(std::string_view line) {
  if (!line.starts_with('[')) return kNoRank;
  const std::size_t slash = line.find('/');
  const std::size_t end = line.find(']');
  if (slash == std::string_view::npos || end == std::string_view::npos || end < slash) {
    return kNoRank;
  }
  const auto rank = parse_digits(line.substr(1, slash - 1));
  const auto local = parse_digits(line.substr(slash + 1, end - slash - 1));
  const bool possible = rank && local && *rank < (1 << 24);
  return possible ? static_cast<std::int32_t>(*rank) : kNoRank;
}

void skip_rank(PrefixedLine& line) {
  line.rank = rank_of_line(line.message);
  if (line.rank == kNoRank) line.rank = rank_in_brackets(line.message);
  if (line.rank == kNoRank) return;
  const bool bracket = line.message.starts_with('[');
  line.message.remove_prefix(
      std::min(line.message.find(bracket ? ']' : ':') + 1, line.message.size()));
  for (const std::string_view behind : {":", " "}) {
    if (line.message.starts_with(behind)) line.message.remove_prefix(behind.size());
  }
}

// The word before " kernel: ".
std::string_view node_of_kernel(std::string_view message) {
  const std::size_t at = find_text(message.substr(0, 2 * kMostPrefix), " kernel: ");
  if (at == std::string_view::npos) return {};
  const std::size_t blank = message.rfind(' ', at == 0 ? 0 : at - 1);
  return blank == std::string_view::npos ? std::string_view{}
                                         : message.substr(blank + 1, at - blank - 1);
}

}  // namespace

std::optional<Time> time_without_year(std::string_view clock, Time written) {
  if (clock.empty() || written == Time{}) return std::nullopt;
  const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(written)};
  for (const int ago : {0, 1}) {
    const auto at = local_time(std::to_string(int{today.year()} - ago) + "-" + std::string(clock));
    if (at && *at <= written + kZone) return at;
  }
  return std::nullopt;
}

PrefixedLine read_line_prefix(std::string_view line, Time written) {
  PrefixedLine read{.message = line};
  skip_kubelet(read.message);
  const std::string_view kubelet = line.substr(0, line.size() - read.message.size());
  skip_rank(read);
  read.node = node_of_kernel(read.message);
  read.at = date_of(read.message);
  if (!read.at) read.at = time_without_year(glog_clock(read.message), written);
  if (!read.at) read.at = time_without_year(syslog_clock(read.message), written);
  if (!read.at) read.at = kernel_date(read.message);
  if (!read.at && !kubelet.empty()) read.at = date_of(kubelet);
  if (read.at && written != Time{} && *read.at > written + kZone) read.at.reset();
  return read;
}

}  // namespace trainwatch

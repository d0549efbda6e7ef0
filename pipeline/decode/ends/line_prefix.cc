// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/line_prefix.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/date_text.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

constexpr Nanos kZone = std::chrono::hours(1);
constexpr std::size_t kMostPrefix = 64;  // bytes before the time of a logger

// At the beginning of a message, or behind what says that it is one.
std::optional<Time> date_of(std::string_view message) {
  constexpr std::array<std::string_view, 3> kBefore = {" AT ", "datetime: ", "  time      : "};
  for (const std::string_view before : kBefore) {
    const std::size_t at = find_text(message, before);
    if (at == std::string_view::npos) continue;
    if (begins_with_date(message.substr(at + before.size()))) {
      return date_at(message.substr(at + before.size()));
    }
  }
  for (std::size_t at = 0; at < std::min(message.size(), kMostPrefix); ++at) {
    if (begins_with_date(message.substr(at))) return date_at(message.substr(at));
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

// "[08/01 07:19:37 d2.utils.events]: ..."
std::string bracket_clock(std::string_view message) {
  if (!message.starts_with('[') || message.size() < 16 || message[3] != '/') return {};
  const std::string_view month = message.substr(1, 2);
  const std::string_view day = message.substr(4, 2);
  if (!parse_digits(month) || !parse_digits(day) || message[6] != ' ') return {};
  return clock_behind(std::string(month) + "-" + std::string(day), message.substr(7));
}

// "11-29 14:03:22 ..."
std::string dash_clock(std::string_view message) {
  if (message.starts_with('[')) message.remove_prefix(1);
  if (message.size() < 14 || message[2] != '-' || message[5] != ' ') return {};
  if (!parse_digits(message.substr(0, 2)) || !parse_digits(message.substr(3, 2))) return {};
  return clock_behind(message.substr(0, 5), message.substr(6));
}

// "[29/Nov/2026:14:03:22 +0000] ..."
std::optional<Time> web_date(std::string_view message) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (message.size() < 22 || message[0] != '[' || message[3] != '/' || message[7] != '/')
    return std::nullopt;
  const std::size_t month = kMonths.find(message.substr(4, 3));
  if (month == std::string_view::npos || month % 3 != 0 || message[12] != ':') return std::nullopt;
  const std::string number = std::to_string(month / 3 + 1);
  std::string text = std::string(message.substr(8, 4)) + (number.size() < 2 ? "-0" : "-") + number +
                     "-" + std::string(message.substr(1, 2)) + " " +
                     std::string(message.substr(13, 8));
  if (message.size() > 26 && message[21] == ' ') text += message.substr(22, 5);
  return date_at(text);
}

// "[Mon Sep 21 14:22:01 2026] ..." of `dmesg -T`, and without brackets of ctime().
std::optional<Time> kernel_date(std::string_view message) {
  constexpr std::size_t kSize = std::string_view{"Mon Sep 21 14:22:01 2026"}.size();
  if (message.starts_with('[')) message.remove_prefix(1);
  if (message.size() < kSize || message[3] != ' ') return std::nullopt;
  const std::string clock = syslog_clock(message.substr(4));
  const auto year = parse_digits(message.substr(kSize - 4, 4));
  return clock.empty() || !year ? std::nullopt : local_time(std::to_string(*year) + "-" + clock);
}

// "2026-09-21T14:13:22.101202303Z stderr F "
void skip_kubelet(std::string_view& line) {
  if (!begins_with_date(line)) return;
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
  // "[3/300]" and "[3/25][50/1583]" are epochs.
  const bool counts = line.substr(end + 1).starts_with('[');
  const bool possible = rank && local && *rank < (1 << 24) && *local <= *rank && !counts;
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

// "[rank 3]", "[rank=3]" behind the time of a logger.
std::int32_t rank_behind_time(std::string_view message) {
  const std::string_view prefix = message.substr(0, kMostPrefix);
  for (std::size_t at = prefix.find('['); at != std::string_view::npos;
       at = prefix.find('[', at + 1)) {
    std::string_view rest = message.substr(at + 1);
    if (!rest.starts_with("rank") && !rest.starts_with("Rank") && !rest.starts_with("RANK"))
      continue;
    rest.remove_prefix(std::string_view("rank").size());
    if (!rest.empty() && (rest[0] == ' ' || rest[0] == '=' || rest[0] == ':'))
      rest.remove_prefix(1);
    const std::size_t close = rest.find(']');
    const auto rank = parse_digits(rest.substr(0, close));
    if (close != std::string_view::npos && rank && *rank < (1 << 24))
      return static_cast<std::int32_t>(*rank);
  }
  return kNoRank;
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
  if (read.rank == kNoRank) read.rank = rank_behind_time(read.message);
  read.node = node_of_kernel(read.message);
  read.at = date_of(read.message);
  if (!read.at) read.at = time_without_year(glog_clock(read.message), written);
  if (!read.at) read.at = time_without_year(syslog_clock(read.message), written);
  if (!read.at) read.at = time_without_year(bracket_clock(read.message), written);
  if (!read.at) read.at = time_without_year(dash_clock(read.message), written);
  if (!read.at) read.at = kernel_date(read.message);
  if (!read.at) read.at = web_date(read.message);
  if (!read.at && !kubelet.empty()) read.at = date_of(kubelet);
  if (read.at && written != Time{} && *read.at > written + kZone) read.at.reset();
  return read;
}

}  // namespace trainwatch

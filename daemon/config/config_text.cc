// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

namespace trainwatch {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;
};

// Ascending; "m" stands behind "ms" so that the longer name is tried first.
constexpr Unit kTimeUnits[] = {
    {"us", 1'000},         {"ms", 1'000'000},        {"s", 1'000'000'000},
    {"m", 60'000'000'000}, {"h", 3'600'000'000'000}, {"d", 86'400'000'000'000}};
constexpr Unit kSizeUnits[] = {{"KiB", 1LL << 10}, {"MiB", 1LL << 20}, {"GiB", 1LL << 30}};

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

const Unit* unit_at(std::string_view text) {
  for (const Unit& unit : kTimeUnits) {
    if (text.starts_with(unit.name)) return &unit;
  }
  return nullptr;
}

// One "1.5s" from the front of `text`.
std::optional<Nanos> take_duration(std::string_view& text) {
  double number = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc{} || !(number >= 0)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const Unit* unit = unit_at(text);
  if (unit == nullptr) return std::nullopt;
  text.remove_prefix(unit->name.size());
  const double ns = number * static_cast<double>(unit->size);
  if (!(ns < 9e18)) return std::nullopt;
  return Nanos{std::llround(ns)};
}

// Edits (insert, remove, replace) between two words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

Result<Nanos> parse_duration(std::string_view text) {
  if (text == "0") return Nanos{0};
  Nanos sum{};
  std::string_view rest = text;
  do {
    const auto part = take_duration(rest);
    if (!part || sum > Nanos::max() - *part) {
      return Error{quoted(text) + " is not a duration such as 500ms, 1.5s or 1h30m"};
    }
    sum += *part;
  } while (!rest.empty());
  return sum;
}

std::string print_duration(Nanos duration) {
  if (duration == Nanos{0}) return "0s";
  for (auto unit = std::rbegin(kTimeUnits); unit != std::rend(kTimeUnits); ++unit) {
    if (duration.count() % unit->size == 0) {
      return std::to_string(duration.count() / unit->size) + std::string(unit->name);
    }
  }
  return std::to_string(to_seconds(duration)) + "s";
}

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  std::uint64_t scale = rest.empty() ? 1 : 0;
  for (const Unit& unit : kSizeUnits) {
    if (rest == unit.name) scale = static_cast<std::uint64_t>(unit.size);
  }
  if (failure != std::errc{} || scale == 0 || number > UINT64_MAX / scale) {
    return Error{quoted(text) + " is not a size such as 65536, 256KiB or 4MiB"};
  }
  return number * scale;
}

std::string print_size(std::uint64_t bytes) {
  for (auto unit = std::rbegin(kSizeUnits); unit != std::rend(kSizeUnits); ++unit) {
    const auto size = static_cast<std::uint64_t>(unit->size);
    if (bytes >= size && bytes % size == 0) {
      return std::to_string(bytes / size) + std::string(unit->name);
    }
  }
  return std::to_string(bytes);
}

Result<std::int64_t> parse_whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) {
    return Error{quoted(text) + " is not a whole number"};
  }
  return number;
}

Result<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return Error{quoted(text) + " is neither true nor false"};
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (const std::string_view word : known) {
    if (const std::size_t edits = distance(text, word); edits < least) {
      least = edits;
      best = word;
    }
  }
  return best.empty() ? "" : " (did you mean " + quoted(best) + "?)";
}

}  // namespace trainwatch

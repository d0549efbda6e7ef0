// SPDX-License-Identifier: Apache-2.0
// The Python function that a row of a profile is about.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

// Built-in functions have the file "~" and line 0 in cProfile, and no file in pyinstrument.
struct PythonFunction {
  std::string file;
  std::int64_t line = 0;
  std::string name;
  auto operator<=>(const PythonFunction&) const = default;

  // A longer file or function name counts as damage.
  static constexpr std::size_t kMaxNameBytes = 4096;
};

// Returns UTF-8; invalid bytes become U+FFFD. Python 2 wrote file names unchanged.
std::string valid_utf8(std::string_view text);

// One row per function, with a limit on memory: a small dump may refer to its names so often that
// they would fill it.

template <class Row>
class FunctionTable {
 public:
  using Rows = std::map<PythonFunction, Row>;
  using Entry = typename Rows::value_type;

  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  const Rows& rows() const { return rows_; }

  // The entry of the function, created if missing; nullptr if there is no room for it.
  Entry* entry(const PythonFunction& function) {
    const auto found = rows_.find(function);
    if (found != rows_.end()) return &*found;
    if (!take_room(function)) return nullptr;
    return &*rows_.try_emplace(function).first;
  }

  // Reserves room for one more item with this name inside a row.
  bool take_room(const PythonFunction& function) {
    const std::size_t bytes = sizeof(Entry) + function.file.size() + function.name.size();
    if (bytes > kMaxBytes - bytes_) return false;
    bytes_ += bytes;
    return true;
  }

  // The `count` entries with the greatest `key(row)`, greatest first; equal ones by file, line and
  // name. Valid as long as the table.
  template <class Key>
  std::vector<const Entry*> top(std::size_t count, Key key) const {
    std::vector<const Entry*> entries;
    entries.reserve(rows_.size());
    for (const Entry& entry : rows_) entries.push_back(&entry);
    const auto kept = static_cast<std::ptrdiff_t>(std::min(count, entries.size()));
    std::partial_sort(entries.begin(), entries.begin() + kept, entries.end(),
                      [&](const Entry* a, const Entry* b) {
                        const auto of_a = key(a->second);
                        const auto of_b = key(b->second);
                        return of_a != of_b ? of_a > of_b : a->first < b->first;
                      });
    entries.resize(static_cast<std::size_t>(kept));
    return entries;
  }

 private:
  Rows rows_;
  std::size_t bytes_ = 0;
};

// Converts seconds as Python's profilers write them, in doubles, to integer nanoseconds.

// Exact to the nanosecond up to 10^15 ns, more than eleven days. nullopt: NaN, or out of range for
// int64.
inline std::optional<std::int64_t> seconds_to_ns(double seconds) {
  constexpr double kLimit = 9.2e9;
  if (!(std::abs(seconds) < kLimit)) return std::nullopt;
  return std::llround(seconds * 1e9);
}

}  // namespace trainwatch

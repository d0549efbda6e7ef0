// SPDX-License-Identifier: Apache-2.0
// How long what has a name took: sums over the rows of each name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/name_table.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct NamedDuration {
  NameId name{};
  std::int64_t duration_ns = 0;
};

struct DurationStats {
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t min_ns = 0;
  double mean_ns = 0;
  double stddev_ns = 0;  // with n - 1 below the line; 0 for a single row
};

struct NameStats {
  std::string name;
  DurationStats stats;
};

inline constexpr char kOtherNames[] = "others";

// At most this many bytes of a name, whole characters.
inline constexpr std::size_t kLongestName = 2048;
std::string cut_name(std::string_view name);

// By sum, the longest first. Names beyond the first `most` become one, "others", whose figures are
// those of their rows. Names are cut. O(n log n).
std::vector<NameStats> durations_by_name(const NameTable& names, std::vector<NamedDuration> rows,
                                         std::size_t most);

// In the saved state: at most `most` names and "others".
inline void named_durations_state(StateIo& io, std::vector<NameStats>& names, std::size_t most) {
  auto count = static_cast<std::uint32_t>(names.size());
  io(count);
  if (count > most + 1) io.fail();
  if (io.is_loading()) names.assign(io.ok() ? count : 0, {});
  for (NameStats& of : names) {
    io(of.name);
    io(of.stats);
  }
}

}  // namespace trainwatch

// How long what has a name took: sums over the rows of each name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/name_table.h"

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

// A name of more than 2048 bytes is cut.
std::string shortened(std::string_view name);

// By sum, the longest first. Names beyond the first `most` become one, "others", whose figures are
// those of their rows. Names are shortened. O(n log n).
std::vector<NameStats> durations_by_name(const NameTable& names, std::vector<NamedDuration> rows,
                                         std::size_t most);

}  // namespace trainwatch

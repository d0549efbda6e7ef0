// Which ranks were late in one step. In synchronous training every rank waits for the last one, so
// all steps are equally long, and the time that is not waiting shows who was waited for. Only
// durations are compared: clocks of hosts differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/stats/median.h"

namespace trainwatch {

inline constexpr std::size_t kFewestRanks = 3;

struct LateRanks {
  static constexpr double kShare = 1.1;  // of the median
  static constexpr double kScore = 3.5;
  static constexpr double kScorePerDeviation = 0.6745;
  static constexpr double kLeastDeviation = 0.01;  // of the median

  std::int64_t median_ns = 0;
  std::vector<bool> late;  // in the order of the times
};

// A rank is late if it took a tenth longer than the median and its modified z-score is above 3.5
// (Iglewicz and Hoaglin 1993; the deviation is at least a hundredth of the median). With fewer than
// three ranks none is late. O(n).
inline LateRanks late_ranks(const std::vector<std::int64_t>& own_times_ns) {
  LateRanks found;
  found.late.resize(own_times_ns.size());
  if (own_times_ns.empty()) return found;
  const std::vector<double> values(own_times_ns.begin(), own_times_ns.end());
  const double median = median_of(values);
  found.median_ns = std::llround(median);
  if (values.size() < kFewestRanks) return found;
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::fabs(value - median));
  const double spread =
      std::max(median_of(std::move(deviations)), LateRanks::kLeastDeviation * median);
  for (std::size_t i = 0; i < values.size(); ++i) {
    found.late[i] =
        values[i] > LateRanks::kShare * median &&
        LateRanks::kScorePerDeviation * (values[i] - median) > LateRanks::kScore * spread;
  }
  return found;
}

}  // namespace trainwatch

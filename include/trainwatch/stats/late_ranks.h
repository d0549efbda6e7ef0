// SPDX-License-Identifier: Apache-2.0
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

inline constexpr std::size_t kFewestRanks = 2;

struct LateRanks {
  static constexpr double kShare = 1.06;  // of the usual time
  static constexpr double kScore = 3.5;
  static constexpr double kScorePerDeviation = 0.6745;
  static constexpr double kLeastDeviation = 0.01;  // of the median

  std::int64_t usual_ns = 0;  // the median; of two ranks the shorter time
  std::vector<bool> late;     // in the order of the times
  std::vector<bool> far;      // late, and with a modified z-score above kScore
};

// A rank is late if it took 6 % longer than usual, and either longer than all others or with a
// modified z-score above 3.5 (Iglewicz and Hoaglin 1993; the deviation is at least a hundredth of
// the median): several may be late in one step. Where lengths vary some rank is late in most steps;
// who is late too often to be chance is for the caller to find. One rank alone is never late. O(n).
inline LateRanks late_ranks(const std::vector<std::int64_t>& own_times_ns) {
  LateRanks found;
  found.late.resize(own_times_ns.size());
  found.far.resize(own_times_ns.size());
  if (own_times_ns.empty()) return found;
  const std::vector<double> values(own_times_ns.begin(), own_times_ns.end());
  const double longest = *std::ranges::max_element(values);
  const double usual = values.size() == 2 ? *std::ranges::min_element(values) : median_of(values);
  found.usual_ns = std::llround(usual);
  if (values.size() < kFewestRanks) return found;
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::fabs(value - usual));
  const double spread =
      std::max(median_of(std::move(deviations)), LateRanks::kLeastDeviation * usual);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double score = LateRanks::kScorePerDeviation * (values[i] - usual) / spread;
    const bool longer = values[i] > LateRanks::kShare * usual;
    found.far[i] = longer && score > LateRanks::kScore;
    found.late[i] = found.far[i] || (longer && values[i] == longest);
  }
  return found;
}

}  // namespace trainwatch

#include "pipeline/cycle/late_ranks.h"

#include <algorithm>
#include <cmath>

#include "pipeline/cycle/sorted_values.h"

namespace trainwatch {
namespace {

constexpr double kLateShare = 1.1;
constexpr double kLateScore = 3.5;
constexpr double kScorePerDeviation = 0.6745;
constexpr double kLeastDeviation = 0.01;  // of the median

double median_deviation(const std::vector<double>& values, double median) {
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::fabs(value - median));
  return SortedValues(std::move(deviations)).quantile(0.5);
}

}  // namespace

LateRanks late_ranks(const std::vector<std::int64_t>& own_times_ns) {
  LateRanks found;
  found.late.resize(own_times_ns.size());
  if (own_times_ns.empty()) return found;
  const std::vector<double> values(own_times_ns.begin(), own_times_ns.end());
  const double median = SortedValues(values).quantile(0.5);
  found.median_ns = std::llround(median);
  if (values.size() < kFewestRanks) return found;
  const double spread = std::max(median_deviation(values, median), kLeastDeviation * median);
  for (std::size_t i = 0; i < values.size(); ++i) {
    found.late[i] = values[i] > kLateShare * median &&
                    kScorePerDeviation * (values[i] - median) > kLateScore * spread;
  }
  return found;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// How likely it is by chance that something happens so often.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace trainwatch {

// The probability that at least `hits` of `trials` independent trials succeed, each with
// probability `chance` in 0..1. O(trials - hits).
inline double binomial_tail(std::int64_t hits, std::int64_t trials, double chance) {
  if (hits <= 0) return 1;
  if (hits > trials || chance <= 0) return 0;
  if (chance >= 1) return 1;
  const auto n = static_cast<double>(trials);
  double sum = 0;
  for (std::int64_t i = hits; i <= trials; ++i) {
    const auto k = static_cast<double>(i);
    const double ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    sum += std::exp(ways + k * std::log(chance) + (n - k) * std::log1p(-chance));
  }
  return std::min(sum, 1.0);
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// What is usual for the iterations of one rank, mode and writer. Computed once for all rules by
// pipeline/analysis/core/pace_memory; seconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainwatch/time.h"

namespace trainwatch {

struct Pace {
  // Before this iteration; 0 while too few are known.
  double usual = 0;    // the median
  double sigma = 0;    // the robust standard deviation of the logarithms
  double limit = 0;    // what takes longer is beyond the learned tail
  double longest = 0;  // that the job takes now and then, as for a checkpoint or an evaluation
  // With this iteration.
  double scale = 1;   // expected time of this iteration, by its kind and work, relative to a mean
                      // one; `recent` and `reference` are of a mean iteration
  double recent = 0;  // the median of the last ones; 0 while `reference` is
  double reference = 0;  // the usual time before it changed for the worse and stayed there; 0: no
                         // such change
  Time changed_at{};     // when that began
  std::int64_t changed_step = -1;
  // The last rise of the level; there may be several while it is worse.
  std::int64_t rise_step = -1;
  double rise = 0;  // to so many times the level before; 0: unknown, it crept

  // The time of this iteration at the level before the change, while `reference` is known.
  double expected() const { return reference * scale; }

  bool warm() const { return usual > 0; }
  // Without an iteration for so long, the job stands still.
  Nanos patience() const {
    constexpr double kTimes = 5;
    constexpr double kLeast = 10;
    constexpr double kWhileStarting = 600;
    constexpr double kMost = 1e8;
    const double seconds = warm() ? std::max(kTimes * longest, kLeast) : kWhileStarting;
    return from_seconds(std::min(seconds, kMost));
  }
};

}  // namespace trainwatch

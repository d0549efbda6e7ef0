// SPDX-License-Identifier: Apache-2.0
// Covered time: intervals merged into disjoint ones. Those that touch become one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

class IntervalSet {
 public:
  IntervalSet() = default;
  // In any order. O(n log n).
  explicit IntervalSet(std::vector<Interval> intervals);

  // Disjoint, by start.
  const std::vector<Interval>& intervals() const { return intervals_; }
  // The covered time within the interval. O(log n) plus the intervals within.
  std::int64_t covered_ns(const Interval& within) const;
  // The interval that covers this time, if any. O(log n).
  std::optional<Interval> at(std::int64_t time_ns) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace trainwatch

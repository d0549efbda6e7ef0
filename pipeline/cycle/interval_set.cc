// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/interval_set.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

IntervalSet::IntervalSet(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  std::size_t kept = 0;
  for (const Interval& next : intervals_) {
    if (kept > 0 && next.start_ns <= intervals_[kept - 1].end_ns) {
      std::int64_t& end = intervals_[kept - 1].end_ns;
      end = std::max(end, next.end_ns);
    } else {
      intervals_[kept++] = next;
    }
  }
  intervals_.resize(kept);
}

std::int64_t IntervalSet::covered_ns(const Interval& within) const {
  std::int64_t total = 0;
  auto interval = std::upper_bound(
      intervals_.begin(), intervals_.end(), within.start_ns,
      [](std::int64_t time, const Interval& known) { return time < known.end_ns; });
  for (; interval != intervals_.end() && interval->start_ns < within.end_ns; ++interval) {
    total +=
        std::min(interval->end_ns, within.end_ns) - std::max(interval->start_ns, within.start_ns);
  }
  return total;
}

std::optional<Interval> IntervalSet::at(std::int64_t time_ns) const {
  const auto interval = std::upper_bound(
      intervals_.begin(), intervals_.end(), time_ns,
      [](std::int64_t time, const Interval& known) { return time < known.end_ns; });
  if (interval == intervals_.end() || interval->start_ns > time_ns) return std::nullopt;
  return *interval;
}

}  // namespace trainwatch

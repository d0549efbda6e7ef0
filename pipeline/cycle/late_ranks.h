// Which ranks were late in one step. In synchronous training every rank waits for the last one, so
// all steps are equally long, and the time that is not communication tells who was waited for. Only
// durations are compared: clocks of hosts differ.
#pragma once

#include <cstdint>
#include <vector>

namespace trainwatch {

inline constexpr std::size_t kFewestRanks = 3;

struct LateRanks {
  std::int64_t median_ns = 0;
  std::vector<bool> late;  // in the order of the times
};

// Late is who took a tenth longer than the median and has a modified z-score above 3.5 (Iglewicz
// and Hoaglin 1993; the deviation counts as a hundredth of the median at least). Of fewer than
// three ranks nobody is. O(n log n).
LateRanks late_ranks(const std::vector<std::int64_t>& own_times_ns);

}  // namespace trainwatch

// When the host did something that the profiler saw: operators, runtime calls and waits for data,
// on any thread. Long silences in between are pauses: garbage collection, Python code, a lock, or
// another process on the same core.
//
// Intervals come in nearly any order, millions of them. Only what is farther apart than the
// shortest pause is kept apart, so that there are few parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

class HostActivity {
 public:
  static constexpr std::int64_t kShortestPauseNs = 10'000'000;
  static constexpr std::size_t kMostParts = std::size_t{1} << 16U;

  void add(const Interval& active);

  // By start. None when there were too many parts to tell.
  std::vector<Interval> pauses() const;

 private:
  std::vector<Interval> parts_;  // by start, farther apart than the shortest pause
  bool too_many_ = false;
};

}  // namespace trainwatch

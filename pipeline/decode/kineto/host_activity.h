// When the host did something that the profiler saw: operators, runtime calls and data waits, on
// any thread. Long gaps between them are pauses: garbage collection, Python code, a lock, or
// another process on the same core.
//
// Millions of intervals arrive in nearly any order. They are merged unless they are farther apart
// than the shortest pause, so that few remain.
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

  // By start. Empty if there were too many parts.
  std::vector<Interval> pauses() const;

 private:
  std::vector<Interval> parts_;  // by start, farther apart than the shortest pause
  bool too_many_ = false;
};

}  // namespace trainwatch

// Wall-clock time that does not jump: the wall time of the start plus what a steady clock has
// counted since. Deadlines, retention and self-alerts go by it, so that setting the host's clock
// changes nothing; a jump is counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "trainwatch/snapshot.h"
#include "trainwatch/time.h"

namespace trainwatch {

class DaemonClock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  DaemonClock(Steady steady, Time wall) : start_(steady), wall_at_start_(wall) {}

  Time at(Steady steady) const { return wall_at_start_ + (steady - start_); }
  Time now() const { return at(std::chrono::steady_clock::now()); }

  // Compares with the host's clock, about once a second.
  void compare(Steady steady, Time wall);

  std::uint64_t jumps_forward() const { return forward_; }
  std::uint64_t jumps_back() const { return back_; }
  void collect(std::vector<MetricFamily>& out) const;

 private:
  Steady start_;
  Time wall_at_start_;
  Nanos offset_{};  // of the host's clock, at the last comparison
  std::uint64_t forward_ = 0;
  std::uint64_t back_ = 0;
};

// The host's clock.
Time wall_clock();

}  // namespace trainwatch

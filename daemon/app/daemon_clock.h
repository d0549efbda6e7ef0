// SPDX-License-Identifier: Apache-2.0
// Wall-clock time that does not jump: the wall time of the start plus what a steady clock has
// counted since. Deadlines, retention and self-alerts use it, so that setting the host's clock
// changes nothing; jumps are counted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "trainwatch/snapshot.h"
#include "trainwatch/time.h"

namespace trainwatch {

class DaemonClock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  DaemonClock(Steady steady, Time wall)
      : start_(steady), wall_at_start_(wall), compared_(steady), awake_(wall) {}

  Time at(Steady steady) const { return wall_at_start_ + (steady - start_); }
  Time now() const { return at(std::chrono::steady_clock::now()); }

  // The same, but it passes only while this process runs: of the time between two calls of
  // compare(), at most kLongestStep. For what would be wrong only if somebody had looked.
  Time awake() const { return awake_; }

  // Compares with the host's clock; call about once a second.
  void compare(Steady steady, Time wall) {
    awake_ += std::min<Nanos>(steady - compared_, kLongestStep);
    compared_ = steady;
    const Nanos offset = wall - at(steady);
    const Nanos moved = offset - offset_;
    if (moved >= kJump) ++forward_;
    if (moved <= -kJump) ++back_;
    offset_ = offset;
  }

  std::uint64_t jumps_forward() const { return forward_; }
  std::uint64_t jumps_back() const { return back_; }

  void collect(std::vector<MetricFamily>& out) const {
    MetricFamily jumps{"trainwatch_clock_jump_total",
                       "How often the host's clock was set by more than 2 s.",
                       MetricType::counter,
                       {},
                       {}};
    jumps.points.push_back({{{"direction", "forward"}}, static_cast<double>(forward_), {}, 0});
    jumps.points.push_back({{{"direction", "back"}}, static_cast<double>(back_), {}, 0});
    out.push_back(std::move(jumps));
  }

 private:
  // Less is a clock being slewed, or a thread delayed between two readings.
  static constexpr Nanos kJump = std::chrono::seconds(2);
  // Longer, and the process was suspended, or its threads did not get to run.
  static constexpr Nanos kLongestStep = std::chrono::seconds(2);

  Steady start_;
  Time wall_at_start_;
  Steady compared_;
  Time awake_;
  Nanos offset_{};  // of the host's clock, at the last comparison
  std::uint64_t forward_ = 0;
  std::uint64_t back_ = 0;
};

// The host's clock.
inline Time wall_clock() {
  return std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
}

}  // namespace trainwatch

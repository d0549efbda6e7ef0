// SPDX-License-Identifier: Apache-2.0
// Pauses between two steps that the training loop most likely takes on purpose: a checkpoint, an
// evaluation that writes no steps, the end of an epoch. The first of them cannot be known to come
// round, but it can be expected to: a checkpoint is marked as one, or a loader was started, or it
// lies at a round number of steps, or the second lies at twice the distance of the first. What such
// a pause costs is judged over the time since the one before it, not as a stall.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/round_steps.h"
#include "rules/spike.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class ScheduledPauses {
 public:
  void begin_attempt(Time at) {
    began_ = at;
    latest_.clear();
  }
  // Call for each step, after cost().
  void add(const Step& step) { steps_.add(step); }

  Time began() const { return began_; }  // the attempt
  // The steps of the attempt so far.
  const RoundSteps& steps() const { return steps_; }

  // What the pause costs if it recurs. Call for each slow iteration. A log does not show what is a
  // pause: with `of_log`, the whole iteration may be one.
  struct Cost {
    // What an unmarked pause that recurs, such as the end of an epoch, may cost.
    static constexpr double kMost = 0.35;

    double share = 1;  // of the time
    bool expected = false;
    bool between = false;       // an unmarked pause that recurs, not at a round number
    bool loader = false;        // mostly the start of a loader
    bool again = false;         // at the distance of earlier ones, not just at a round number
    std::int64_t distance = 0;  // steps since the one before
  };
  Cost cost(const Spike& spike, bool of_log) {
    const double outside = std::max(spike.waited(), 0.0) + spike.before;
    const bool epoch = spike.loader_started && (of_log || explains(outside, spike));
    const bool marked = epoch || explains(spike.checkpoint, spike);
    const bool optimizer = explains(spike.in_optimizer(), spike);
    if (!of_log && !marked && !optimizer && !explains(spike.paused(), spike)) return {};
    Pause pause{spike.done, spike.end, spike.lost(), false};
    // A log may pause before it writes the record of a round step.
    const bool itself = of_log && RoundSteps::is_multiple(spike.step);
    const bool known = marked || itself || spike.round;
    const bool again = comes_again(pause) || comes_by_clock(pause);
    pause.expected = known || again;
    const double elapsed = to_seconds(spike.end - before(pause));
    const std::int64_t distance = spike.done - (latest_.empty() ? 0 : latest_.front().done);
    if (latest_.size() == kKept) latest_.pop_back();
    latest_.insert(latest_.begin(), pause);
    if (!pause.expected) return {};
    const double share = std::clamp(spike.lost() / std::max(elapsed, spike.lost()), 0.0, 1.0);
    return {share, true, !known, epoch, again, distance};
  }

  void state(StateIo& io) {
    io(steps_);
    io(began_);
    io(latest_);
    if (latest_.size() > kKept) io.fail();
  }

 private:
  static constexpr std::size_t kKept = 8;
  static constexpr double kMostly = 0.8;  // of the lost time
  static constexpr double kHalf = 0.5;
  static constexpr double kAlike = 2;  // times as long, or as short
  static constexpr std::int64_t kLeastDistance = 50;
  static constexpr double kSameLength = 0.15;
  static constexpr double kSameDistance = 0.08;

  struct Pause {
    std::int64_t done = 0;  // steps before it
    Time end{};
    double lost = 0;
    bool expected = false;

    bool is_like(const Pause& other) const {
      return lost <= kAlike * other.lost && other.lost <= kAlike * lost;
    }
    void state(StateIo& io) {
      io(done);
      io(end);
      io(lost);
      io(expected);
      if (done < 0 || !(lost >= 0)) io.fail();
    }
  };

  // Without it the iteration would have been like others.
  static bool explains(double seconds, const Spike& spike) {
    if (seconds >= kMostly * spike.lost()) return true;
    return seconds >= kHalf * spike.lost() && spike.seconds - seconds <= spike.limit;
  }

  // When the last one was that took as long: each schedule has its own distance.
  Time before(const Pause& pause) const {
    const auto found = std::ranges::find_if(latest_, [&](const Pause& known) {
      return known.done > 0 && known.expected && known.lost >= pause.lost / kAlike;
    });
    return found == latest_.end() ? began_ : found->end;
  }

  // By the clock, every ten minutes: pauses of the same length, at the same distances.
  bool comes_by_clock(const Pause& pause) const {
    if (latest_.empty()) return false;
    const Pause& last = latest_.front();
    const double before =
        to_seconds(last.end - (latest_.size() > 1 ? latest_[1].end : began_)) - last.lost;
    const double since = to_seconds(pause.end - last.end) - pause.lost;
    return last.done > 0 && pause.done - last.done >= kLeastDistance &&
           std::fabs(pause.lost - last.lost) <= kSameLength * last.lost &&
           std::fabs(since - before) <= kSameDistance * before;
  }
  // At twice the distance of the one before, or, if there are several schedules, at a multiple of
  // where an equal one was first.
  bool comes_again(const Pause& pause) const {
    const std::int64_t last = latest_.empty() ? 0 : latest_.front().done;
    const std::int64_t distance = pause.done - last;
    if (last > 0 && distance >= kLeastDistance) {
      const std::int64_t off = last % distance;
      if (off <= 1 || off == distance - 1) return true;
    }
    return std::ranges::any_of(latest_, [&](const Pause& known) {
      const std::int64_t since = pause.done - known.done;
      return known.done >= kLeastDistance && since >= kLeastDistance && known.is_like(pause) &&
             (known.done % since == 0 || pause.done % known.done == 0);
    });
  }

  RoundSteps steps_;
  Time began_{};
  std::vector<Pause> latest_;  // the latest first, scheduled or not; kKept at most
};

}  // namespace trainwatch

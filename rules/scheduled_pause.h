// Pauses between two steps that the training loop most likely takes on purpose: a checkpoint, an
// evaluation that writes no steps, the end of an epoch. The first of them cannot be known to come
// round, but it can be expected to: a checkpoint is marked as one, or a loader was started, or it
// lies at a round number of steps, or the second lies at twice the distance of the first. What such
// a pause costs is judged over the time since the one before it, not as a stall.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rules/round_steps.h"
#include "rules/spike.h"
#include "trainwatch/state_io.h"

namespace trainwatch::step_spike {

class ScheduledPauses {
 public:
  void begin_attempt(Time at) {
    since_ = at;
    latest_ = 0;
  }
  // Call for each step, after cost().
  void add(const Step& step) { steps_.add(step); }

  // Returns the share of the time that the pause costs if it comes round, or 1 if it is not
  // expected to. Call for each slow iteration.
  double cost(const Spike& spike) {
    const std::int64_t done = steps_.done();
    const double waits = spike.loader_started ? std::max(spike.waited(), 0.0) : 0;
    const bool epoch = spike.loader_started && waits + spike.paused() >= kMostly * spike.lost();
    const bool marked = epoch || spike.checkpoint >= kMostly * spike.lost();
    if (!marked && spike.paused() < kMostly * spike.lost()) return 1;
    const bool expected = marked || steps_.is_round() || comes_again(done);
    latest_ = done;
    if (!expected) return 1;
    const double elapsed = to_seconds(spike.end - since_);
    since_ = spike.end;
    return std::clamp(spike.lost() / std::max(elapsed, spike.lost()), 0.0, 1.0);
  }

  void state(StateIo& io) {
    io(steps_);
    io(since_);
    io(latest_);
    if (latest_ < 0) io.fail();
  }

 private:
  static constexpr double kMostly = 0.8;  // of the lost time
  static constexpr std::int64_t kLeastDistance = 50;

  bool comes_again(std::int64_t done) const {
    const std::int64_t distance = done - latest_;
    if (latest_ == 0 || distance < kLeastDistance) return false;
    const std::int64_t off = latest_ % distance;
    return off <= 1 || off == distance - 1;
  }

  RoundSteps steps_;
  Time since_{};             // when the attempt or the last scheduled pause ended
  std::int64_t latest_ = 0;  // steps before the latest pause, scheduled or not
};

}  // namespace trainwatch::step_spike

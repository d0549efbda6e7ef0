// SPDX-License-Identifier: Apache-2.0
// Iterations of one rank in a row that lost time, about ten seconds of them, which are explained
// together.
#pragma once

#include <utility>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct LostStretch {
  SubjectId rank = SubjectId::none;
  Origin origin = Origin::timeline;
  Time start{};
  Time first_end{};  // of the first iteration
  Time end{};
  double wait = 0;   // seconds lost waiting for input
  double other = 0;  // seconds lost otherwise

  double lost() const { return wait + other; }
  void state(StateIo& io);
};

// Makes stretches of the iterations of one rank. One that loses a second by itself is a stretch of
// its own.
class LostStretches {
 public:
  // Seconds of training that a step stands for. A record of a log stands for several iterations.
  static double seconds(const Step& step) { return step.steps * to_seconds(step.iteration()); }

  // A step of training with all its waits, whose iteration() is not 0. Appends the stretches that
  // are over.
  void on(const Step& step, std::vector<LostStretch>& ended);
  // What is not over yet; nothing may be lost.
  const LostStretch& open() const { return open_; }
  // Ends it.
  LostStretch take_open() { return std::exchange(open_, {}); }
  // The same rank with nothing open.
  LostStretches next() const;

  void state(StateIo& io) {
    io(open_);
    io(usual_wait_);
  }

 private:
  LostStretch open_;
  double usual_wait_ = 0;  // seconds per iteration
};

}  // namespace trainwatch

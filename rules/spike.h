// SPDX-License-Identifier: Apache-2.0
// One slow iteration.
#pragma once

#include <cstdint>

#include "trainwatch/event.h"

namespace trainwatch {

// A slow iteration and what it was compared with. Seconds.
struct Spike {
  std::int64_t step = kNoStep;
  Time start{};
  Time end{};
  double seconds = 0;
  double usual = 0;
  double limit = 0;
  double wait = 0;
  double usual_wait = 0;
  double between = 0;  // neither step nor wait
  double before = 0;   // the step; the wait may be part of that
  double usual_between = 0;
  double outside = 0;  // the phases of the step
  double usual_outside = 0;
  double optimizer = 0;  // the phase; 0: not known
  double usual_optimizer = 0;
  double checkpoint = 0;        // in spans that say so
  bool loader_started = false;  // before it: an epoch begins
  std::int64_t done = 0;        // steps of the attempt before it
  bool resized = false;         // of another size than the steps before it
  bool round = false;           // these, or their number, are a round number

  double lost() const { return seconds - usual; }
  double ratio() const { return seconds / usual; }
  double waited() const { return wait - usual_wait; }
  double paused() const { return between - usual_between; }
  double in_optimizer() const { return optimizer - usual_optimizer; }
};

}  // namespace trainwatch

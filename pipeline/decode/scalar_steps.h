// SPDX-License-Identifier: Apache-2.0
// How many steps a value that is a mean stands for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// The steps between the record before, at step `last` (kNoStep: there was none), and the one at
// `step`. The first record, and the first behind a restart, may follow any number of steps: two
// stands for "more than one".
inline std::uint32_t steps_since(std::int64_t last, std::int64_t step) {
  if (last == kNoStep || step <= last) return step > 1 ? 2 : 1;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(step - last, 1 << 30));
}

// The same for records one after another. Several may have the same step.
struct RecordSteps {
  std::int64_t last = kNoStep;
  std::uint32_t interval = 1;  // up to the latest record

  void advance(std::int64_t step) {
    if (step != last) interval = steps_since(last, step);
    if (step != kNoStep) last = step;
  }
  void state(StateIo& io) {
    io(last);
    io(interval);
  }
};

}  // namespace trainwatch

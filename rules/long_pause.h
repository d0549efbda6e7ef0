// SPDX-License-Identifier: Apache-2.0
// A pause so much longer than a step that the training loop most likely takes it on purpose, to
// evaluate, save or end an epoch, although nothing marks it. Most faults cost the time of a few
// steps.
#pragma once

namespace trainwatch {

// Seconds.
inline bool is_long_pause(double lost, double usual) {
  constexpr double kTimes = 20;
  constexpr double kLeast = 8;
  constexpr double kMost = 240;
  return lost >= kLeast && lost <= kMost && lost >= kTimes * usual;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// A pause so much longer than a step that the training loop most likely takes it on purpose: it
// evaluates, ends an epoch or saves, and nothing marks it. What goes wrong in a step mostly takes
// some steps' time.
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

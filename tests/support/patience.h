// SPDX-License-Identifier: Apache-2.0
// How long a test waits for what comes at once on an idle machine. It only ends what hangs: nothing
// is asserted about speed, as something else may use the machine.
#pragma once

#include <chrono>
#include <thread>

namespace trainwatch {

inline constexpr std::chrono::seconds kPatience{120};

// Asks until the answer is true. False: it did not become true in kPatience.
template <class Question>
bool becomes(Question question) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (!question()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace trainwatch

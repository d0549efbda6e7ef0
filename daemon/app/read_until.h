// SPDX-License-Identifier: Apache-2.0
// Up to which time everything has been read that was written. A file system that does not answer
// holds it back, but only for a minute: one hung mount must not blind the rules about other jobs.
#pragma once

#include <chrono>

namespace trainwatch {

class ReadUntil {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPatience{60};

  explicit ReadUntil(Time now) : time_(now) {}

  // A pass that began at `began` has read everything that its scan found, except below what has
  // not answered for `silence`; zero: everything answers.
  void complete_pass(Time began, std::chrono::steady_clock::duration silence) {
    if (silence == silence.zero() || silence >= kPatience) time_ = began;
  }
  Time time() const { return time_; }

 private:
  Time time_;
};

}  // namespace trainwatch

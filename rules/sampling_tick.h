// SPDX-License-Identifier: Apache-2.0
// Which samples of a node belong together. The collectors of one sampling tick are up to 20 ms
// apart, so a tick is what lies within 20 ms of its first sample.
#pragma once

#include <algorithm>

#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

class SamplingTick {
 public:
  static constexpr Nanos kWidth = std::chrono::milliseconds(20);

  bool empty() const { return start_ == Time{}; }
  bool holds(Time at) const { return !empty() && std::chrono::abs(at - start_) <= kWidth; }
  void begin(Time at) { start_ = last_ = at; }
  void add(Time at) { last_ = std::max(last_, at); }
  Time last() const { return last_; }  // of the newest sample in it

  void state(StateIo& io) {
    io(start_);
    io(last_);
  }

 private:
  Time start_{};
  Time last_{};
};

}  // namespace trainwatch

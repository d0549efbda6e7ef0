// Puts the values of one time together, which come one after another: what the devices of a node
// say at a tick is one value.
#pragma once

#include <cstdint>

#include "trainwatch/state_io.h"
#include "trainwatch/stats/compensated_sum.h"
#include "trainwatch/time.h"

namespace trainwatch {

class SameTime {
 public:
  // Calls `close(sum, count)` with the values of the time before when this is another one. NaN and
  // infinities are left out.
  template <class Close>
  void add(Time time, double value, Close&& close) {
    if (time != at_) {
      last(close);
      *this = {};
      at_ = time;
    }
    if (sum_.add(value)) ++count_;
  }
  // The values of the last time: there may be more to come of it.
  template <class Close>
  void last(Close&& close) const {
    if (count_ > 0) close(sum_.value(), count_);
  }

  void state(StateIo& io) {
    io(at_);
    io(sum_);
    io(count_);
  }

 private:
  Time at_ = kNoTime;
  CompensatedSum sum_;
  std::uint64_t count_ = 0;
};

inline double mean_of(double sum, std::uint64_t count) {
  return sum / static_cast<double>(count);
}

}  // namespace trainwatch

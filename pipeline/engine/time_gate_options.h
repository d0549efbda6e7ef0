// What an event time may look like beside the other ones of its lane.
#pragma once

#include <cstddef>

#include "trainwatch/time.h"

namespace trainwatch {

struct TimeGateOptions {
  Nanos max_ahead = std::chrono::minutes{10};  // a jump forward up to this needs no second witness
  Nanos lateness = std::chrono::seconds{60};   // a jump back up to this needs none either
  Nanos min_hold{0};                           // how long samples wait to be sorted, at least
  std::size_t agree = 8;                       // witnesses that make a greater jump believed
};

// A span explains a silence up to this long, and events further apart than this are never taken
// for neighbours in a lane that has hardly begun.
inline constexpr Nanos kLongestPause = std::chrono::hours{24};

}  // namespace trainwatch

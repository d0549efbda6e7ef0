// The training steps that ended most recently, for clients that watch a job live. Not part of the
// state: it is empty after a restart, and steps are sent again when their files are read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "trainwatch/event.h"
#include "trainwatch/interner.h"

namespace trainwatch {

class StepFeed {
 public:
  // The maximum kept; beyond it, the newest.
  static constexpr std::size_t kMaxSteps = 256;

  struct Taken {
    std::string json;  // {"steps":[…]}, in the order in which they ended in their files
    std::size_t steps = 0;
    std::uint64_t dropped = 0;  // older ones that were dropped
  };

  void add(const Step& step);
  // The steps added since the last call.
  Taken take(const Interner& interner);

 private:
  std::deque<Step> steps_;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch

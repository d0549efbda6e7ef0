// The training steps that ended last, for clients who watch a job live. Not part of the state:
// after a restart it is empty, and steps whose files are read again come again.
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
  // The most that are kept; of more, the newest.
  static constexpr std::size_t kMaxSteps = 256;

  struct Taken {
    std::string json;  // {"steps":[…]}, in the order in which they ended in their files
    std::size_t steps = 0;
    std::uint64_t dropped = 0;  // older ones that are not among them
  };

  void add(const Step& step);
  // Those added since the last call.
  Taken take(const Interner& interner);

 private:
  std::deque<Step> steps_;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch

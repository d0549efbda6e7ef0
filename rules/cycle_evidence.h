// SPDX-License-Identifier: Apache-2.0
// How much of a job a profiler has recorded: warnings need more than a glimpse.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainwatch/state_io.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// Two complete steps and half a second of them; what is found in less is worth knowing at most.
class CycleEvidence {
 public:
  static constexpr std::int64_t kSteps = 2;
  static constexpr std::int64_t kNs = 500'000'000;

  void add(std::int64_t steps, std::int64_t ns) {
    steps_ = std::min(kSteps, steps_ + std::clamp<std::int64_t>(steps, 0, kSteps));
    ns_ = std::min(kNs, ns_ + std::clamp<std::int64_t>(ns, 0, kNs));
  }
  Severity at_most(Severity severity) const {
    return steps_ < kSteps || ns_ < kNs ? std::min(severity, Severity::info) : severity;
  }

  void state(StateIo& io) {
    io(steps_);
    io(ns_);
    if (steps_ < 0 || steps_ > kSteps || ns_ < 0 || ns_ > kNs) io.fail();
  }

 private:
  std::int64_t steps_ = 0;
  std::int64_t ns_ = 0;
};

}  // namespace trainwatch

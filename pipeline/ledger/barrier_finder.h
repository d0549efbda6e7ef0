// SPDX-License-Identifier: Apache-2.0
// Learns in which phases of a step ranks wait for each other: those at whose end they leave
// together although they entered apart. Their names say it until the times do.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/ledger/iteration.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class BarrierFinder {
 public:
  Barriers barriers() const { return barriers_; }
  // A rank had this phase. True: by its name, it is a barrier that was not known.
  bool saw(StepPhase phase);
  // All ranks have ended the iteration, which took so many seconds. True: the barriers changed.
  bool learn(const JobIteration& iteration, double length);

  void state(StateIo& io) {
    io(scores_);
    io(barriers_);
  }

 private:
  struct Score {
    std::uint32_t count = 0;
    double mean = 0;  // 1: they left together; 0: as far apart as they entered
    bool known = false;
  };

  static bool is_named(StepPhase phase) { return phase == StepPhase::backward; }

  std::array<Score, kStepPhases> scores_{};
  Barriers barriers_ = 0;
};

inline bool BarrierFinder::saw(StepPhase phase) {
  Score& score = scores_[static_cast<std::size_t>(phase)];
  if (score.known) return false;
  score.known = true;
  if (!is_named(phase)) return false;
  score.mean = 1;
  barriers_ = static_cast<Barriers>(barriers_ | barrier(phase));
  return true;
}

inline bool BarrierFinder::learn(const JobIteration& iteration, double length) {
  constexpr double kApart = 0.02;  // of the iteration
  constexpr std::uint32_t kMemory = 32;
  constexpr std::uint32_t kEnough = 3;
  Barriers found = 0;
  for (std::size_t i = 0; i < kStepPhases; ++i) {
    Score& score = scores_[i];
    if (!score.known) continue;
    const JobIteration::Range& range = iteration.ranges[i];
    const double entered = range.enter_last - range.enter_first;
    if (length > 0 && entered > kApart * length) {
      const double together = 1 - (range.leave_last - range.leave_first) / entered;
      score.count = std::min(score.count + 1, kMemory);
      score.mean += (together - score.mean) / score.count;
    }
    const auto phase = static_cast<StepPhase>(i);
    const bool sure = score.count >= kEnough || is_named(phase);
    if (sure && score.mean > 0.5) found = static_cast<Barriers>(found | barrier(phase));
  }
  const bool changed = found != barriers_;
  barriers_ = found;
  return changed;
}

}  // namespace trainwatch

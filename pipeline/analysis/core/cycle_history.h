// SPDX-License-Identifier: Apache-2.0
// The steps of the latest profiler cycle of each rank, for finding out what one of them spent more
// time on than the others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trainwatch/cycle_summary.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

class CycleHistory {
 public:
  static constexpr std::size_t kMaxRanks = 256;
  static constexpr std::size_t kMaxSteps = 256;  // of a cycle
  static constexpr std::size_t kFewestSteps = 3;

  void on(const CycleSummary& cycle);

  // What the step of this rank that began then had more of than the median of its cycle's steps;
  // `coverage` is its share of what the step took longer. nullopt: there is no such step, or too
  // few to compare it with, or it took no longer.
  std::optional<Cause> explain(SubjectId rank, Time step_start) const;

  // Whether cycles came since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  void state(StateIo& io);

 private:
  std::map<SubjectId, std::vector<StepSummary>> ranks_;  // without collectives
  bool changed_ = false;
};

}  // namespace trainwatch

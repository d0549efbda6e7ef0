// SPDX-License-Identifier: Apache-2.0
// What a condition costs in the steps that a profiler has recorded since it began: in all cycles,
// or steps, in a row that show it.
#pragma once

#include <cstdint>

#include "trainwatch/cycle_summary.h"
#include "trainwatch/state_io.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

class CycleCost {
 public:
  // One more cycle or step, which begins with `first`. In seconds.
  void add(const StepSummary& first, double lost, double recorded);

  bool empty() const { return since_ == kNoTime; }

  // Fills in since when, and how much was lost; the summary, which says what is without a full
  // stop, gets " since step 12: 3.2 s of the 7.1 s recorded are lost; without that, training would
  // be 1.8x faster."
  void describe(Verdict& verdict) const;

  void state(StateIo& io);

 private:
  Time since_ = kNoTime;
  std::int64_t first_step_ = kNoStep;
  double lost_ = 0;
  double recorded_ = 0;
};

}  // namespace trainwatch

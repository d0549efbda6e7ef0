// SPDX-License-Identifier: Apache-2.0
#include "rules/cycle_cost.h"

#include <string>

#include "rules/format.h"

namespace trainwatch {

void CycleCost::add(const StepSummary& first, double lost, double recorded) {
  if (empty()) {
    since_ = time_from_ns(first.start_ns);
    first_step_ = first.number;
  }
  lost_ += lost;
  recorded_ += recorded;
}

void CycleCost::describe(Verdict& verdict) const {
  verdict.since = since_;
  verdict.lost_seconds = lost_;
  if (first_step_ != kNoStep) verdict.summary += " since step " + std::to_string(first_step_);
  if (lost_ > 0 && recorded_ > 0) {
    verdict.summary += ": " + format::seconds(lost_) + " of the " + format::seconds(recorded_) +
                       " recorded are lost" + format::saving(lost_ / recorded_);
  }
  verdict.summary += ".";
}

void CycleCost::state(StateIo& io) {
  io(since_);
  io(first_step_);
  io(lost_);
  io(recorded_);
  if (!(lost_ >= 0) || !(recorded_ >= 0) || !is_possible(since_)) io.fail();
}

}  // namespace trainwatch

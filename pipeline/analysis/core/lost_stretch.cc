// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/lost_stretch.h"

#include <algorithm>
#include <cassert>

namespace trainwatch {
namespace {

constexpr auto kStretch = std::chrono::seconds(10);
constexpr double kAlone = 1.0;           // seconds lost by one iteration
constexpr double kUsualWait = 1.0 / 64;  // the weight of a new iteration

}  // namespace

void LostStretch::state(StateIo& io) {
  io(rank);
  io(origin);
  io(start);
  io(first_end);
  io(end);
  io(wait);
  io(other);
  if (origin >= Origin::count_) io.fail();
  if (!is_possible(start) || !is_possible(first_end) || !is_possible(end)) io.fail();
}

void LostStretches::on(const Step& step, std::vector<LostStretch>& ended) {
  const double took = to_seconds(step.iteration());
  assert(took > 0);
  const double steps = step.steps;  // that it stands for
  const Time begin =
      step.origin == Origin::log ? step.end() - step.iteration() * step.steps : step.begin;
  const double wait = std::min(to_seconds(step.data_wait), took);
  double other = 0;
  if (step.pace.warm()) {
    const bool changed = step.pace.reference > 0;
    const double usual = changed ? step.pace.reference : step.pace.usual;
    const double working = std::max(usual - usual_wait_, 0.0);
    if (changed || took > step.pace.limit) other = std::max(took - wait - working, 0.0);
  }
  if (other == 0) usual_wait_ += kUsualWait * (wait - usual_wait_);
  const bool alone = steps * (wait + other) >= kAlone;
  const bool apart = begin < open_.start || begin - open_.start >= kStretch;
  if (open_.lost() > 0 && (alone || apart)) ended.push_back(take_open());
  if (open_.lost() == 0) {
    open_.start = begin;
    open_.first_end = step.end();
  }
  open_.rank = step.subject;
  open_.origin = step.origin;
  open_.end = step.end();
  open_.wait += steps * wait;
  open_.other += steps * other;
  if (alone) ended.push_back(take_open());
}

LostStretches LostStretches::next() const {
  LostStretches next;
  next.usual_wait_ = usual_wait_;
  return next;
}

}  // namespace trainwatch

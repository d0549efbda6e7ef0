// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/node_judge.h"

namespace trainwatch {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);  // for samples that may not come

// nullopt: no sample could change the part.
std::optional<CauseName> cause_of(LifePart part) {
  switch (part) {
    case LifePart::input_wait:
      return CauseName::input_wait;
    case LifePart::compute_growth:
      return CauseName::compute_growth;
    case LifePart::unattributed:
      return CauseName::unattributed;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<LifePart> NodeJudge::judge(const Loss& loss) const {
  const auto own = cause_of(loss.part);
  if (!own) return loss.part;
  Verdict verdict;
  verdict.window_start = loss.from;
  verdict.window_end = loss.to;
  verdict.window_lost_seconds = loss.seconds;
  verdict.cause.name = *own;
  verdict.cause.coverage = *own == CauseName::unattributed ? 0 : 1;
  const bool known = attribution_.settled(verdict, loss.rank) || latest_ - loss.to > kPatience;
  if (!known) return std::nullopt;
  const auto found = attribution_.from_node(verdict, loss.rank);
  return found ? part_of(found->name) : loss.part;
}

}  // namespace trainwatch

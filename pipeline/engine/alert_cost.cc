// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_cost.h"

#include <algorithm>

#include "pipeline/engine/alert_clauses.h"
#include "pipeline/engine/headline_text.h"

namespace trainwatch {

std::optional<AlertCost> cost_of(const AlertView& view, Time until) {
  constexpr double kLeast = 0.01;  // seconds
  if (!(view.alert->verdict.lost_seconds > 0) || view.lost < kLeast) return std::nullopt;
  AlertCost cost{std::nullopt, view.lost};
  const double elapsed = to_seconds(until - view.alert->began());
  if (!is_moment(view) && elapsed > 0) cost.share = std::min(view.lost / elapsed, 1.0);
  return cost;
}

std::string cost_text(const AlertCost& cost, const RunView& run) {
  std::string text;
  if (cost.share) text = share_words(*cost.share) + " of the time is lost, ";
  text += run.cost_words(cost.seconds);
  return text + (cost.share ? " so far" : " lost so far");
}

}  // namespace trainwatch

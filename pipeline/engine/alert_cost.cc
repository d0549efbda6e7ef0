// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_cost.h"

#include <algorithm>

#include "pipeline/engine/alert_clauses.h"
#include "pipeline/engine/headline_text.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

// A figure this much older than the condition is not its cost so far.
constexpr double kStale = 1.5;

// Of profiler cycles: what was recorded.
bool knows_cycles_only(const RuleSpec& rule) {
  return rule.interest.cycles && !rule.interest.steps && !rule.interest.complete_steps;
}

}  // namespace

double ranks_concerned(const AlertView& view, const RunView& run) {
  const Alert& alert = *view.alert;
  const std::string& several = view.ranks.empty() ? alert.ranks : view.ranks;
  std::size_t ranks = 1;
  if (view.rule->scope == Scope::job) {
    ranks = run.rank_count;
  } else if (!several.empty()) {
    ranks = count_ranks(several);
  } else if (view.rule->scope == Scope::node) {
    const auto node = run.nodes.find(alert.subject.node);
    if (node != run.nodes.end()) ranks = node->second.size();
  }
  return static_cast<double>(std::max<std::size_t>(ranks, 1));
}

// Percentages refer to recent steps, and so does lost time unless `since` is known.
std::optional<AlertCost> cost_of(const AlertView& view, const RunView& run, Time until) {
  const Alert& alert = *view.alert;
  const Verdict& verdict = alert.verdict;
  if (!(verdict.lost_seconds > 0)) return std::nullopt;
  const double ranks = ranks_concerned(view, run);
  if (is_moment(view)) return AlertCost{std::nullopt, verdict.lost_seconds * ranks, ""};
  const bool percent = verdict.unit == "percent";
  const double recent = std::clamp(verdict.value / 100, 0.0, 1.0);
  if (knows_cycles_only(*view.rule)) {
    return AlertCost{percent ? std::optional(recent) : std::nullopt, verdict.lost_seconds * ranks,
                     "at least ", "the recorded time"};
  }
  const double elapsed = to_seconds(until - alert.began());
  const double measured = to_seconds(alert.updated_at - alert.began());
  if (percent && verdict.since == kNoTime)
    return AlertCost{recent, recent * elapsed * ranks, "about "};
  const double known = verdict.lost_seconds * ranks;
  if (measured <= 0) return AlertCost{std::nullopt, known, elapsed > 0 ? "at least " : ""};
  const double share = std::min(verdict.lost_seconds / measured, 1.0);
  if (elapsed > kStale * measured) return AlertCost{share, share * elapsed * ranks, "about "};
  return AlertCost{share, known, ""};
}

std::string cost_text(const AlertCost& cost, const RunView& run) {
  std::string text;
  if (cost.share) text = share_words(*cost.share) + " of " + std::string(cost.of) + " is lost, ";
  text += std::string(cost.how) + run.time_words(cost.gpu_seconds);
  return text + (cost.share ? " so far" : " lost so far");
}

}  // namespace trainwatch

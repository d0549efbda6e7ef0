// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/reasons.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/engine/alert_clauses.h"
#include "pipeline/engine/alert_cost.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

bool knows_cause(const AlertView& view) {
  return view.alert->verdict.cause.name != CauseName::unattributed;
}

// The same alert on another rank. One slow step resolves on each rank with its next step, so alerts
// that have just ended count, too.
bool is_like(const AlertView& view, const AlertView& other) {
  return incident_of(view) == incident_of(other) && view.rule == other.rule &&
         is_moment(view) == is_moment(other);
}

std::string ranks_like(const AlertView& view, const RunAlerts& alerts,
                       const std::vector<AlertView>& list) {
  std::set<std::int32_t> ranks;
  const auto add = [&](const AlertView& other) {
    if (other.alert->subject.rank != kNoRank && is_like(view, other))
      ranks.insert(other.alert->subject.rank);
  };
  std::ranges::for_each(list, add);
  if (is_moment(view)) std::ranges::for_each(alerts.over, add);
  return ranks.size() < 2 ? std::string() : rank_ranges(ranks);
}

// `views`: the alerts of one incident; not empty.
const AlertView& best_of(const std::vector<AlertView>& views) {
  const auto rank = [](const AlertView& view) {
    const bool speaks = view.alert->id == incident_of(view);
    return std::tuple(speaks, view.alert->severity, view.rule->incident.specificity,
                      knows_cause(view));
  };
  return *std::ranges::min_element(views, [&](const AlertView& a, const AlertView& b) {
    const auto first = rank(a);
    const auto second = rank(b);
    if (first != second) return first > second;
    return std::tuple(a.alert->began(), a.alert->subject.rank, a.alert->id) <
           std::tuple(b.alert->began(), b.alert->subject.rank, b.alert->id);
  });
}

// Many ranks may report the same slow step while only one knows its cause.
AlertView with_cause(AlertView one, const RunView& run, const std::vector<AlertView>& incident) {
  if (knows_cause(one) || !one.rule->incident.of_one_step) return one;
  const auto known = std::ranges::find_if(
      incident, [&](const AlertView& other) { return is_like(one, other) && knows_cause(other); });
  if (known == incident.end()) return one;
  std::string ranks = ranks_of(one, run);
  return {known->alert, known->rule, known->lost, std::move(ranks)};
}

// The most expensive first.
void sort_by_cost(std::vector<AlertView>& views, Time now) {
  const auto rank = [&](const AlertView& view) {
    const Time until = view.alert->ended_at == kNoTime ? now : view.alert->ended_at;
    const auto cost = cost_of(view, until);
    return std::tuple(is_stall(view), cost ? cost->seconds : 0.0, view.alert->severity,
                      view.rule->incident.specificity);
  };
  std::ranges::sort(views, [&](const AlertView& a, const AlertView& b) {
    const auto first = rank(a);
    const auto second = rank(b);
    if (first != second) return first > second;
    return std::pair(a.alert->began(), a.alert->id) < std::pair(b.alert->began(), b.alert->id);
  });
}

}  // namespace

const std::string& incident_of(const AlertView& view) {
  return view.alert->incident.empty() ? view.alert->id : view.alert->incident;
}

std::vector<AlertView> reasons(const RunAlerts& alerts, std::vector<AlertView> RunAlerts::*list,
                               bool about_loss, const RunView& run, Time now) {
  std::map<std::string, std::vector<AlertView>, std::less<>> incidents;
  for (const AlertView& view : alerts.*list) {
    if ((view.rule->incident.specificity != 0) != about_loss) continue;
    incidents[incident_of(view)].push_back(view);
  }
  std::vector<AlertView> chosen;
  for (const auto& [id, views] : incidents) {
    AlertView one = best_of(views);
    if (one.alert->id != id) one.ranks = ranks_like(one, alerts, views);
    chosen.push_back(with_cause(std::move(one), run, views));
  }
  sort_by_cost(chosen, now);
  return chosen;
}

}  // namespace trainwatch

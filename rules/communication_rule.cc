// SPDX-License-Identifier: Apache-2.0
#include "rules/communication_rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

double percent(std::int64_t part, std::int64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

CommunicationRule::CommunicationRule(std::int64_t window, const RuleContext& context)
    : steps_(context.interner, StepAligner::Collectives::dropped),
      exposed_(static_cast<std::size_t>(window)),
      communication_(static_cast<std::size_t>(window)),
      hidden_(static_cast<std::size_t>(window)),
      within_layers_(static_cast<std::size_t>(window)) {}

void CommunicationRule::restart(Time at, Verdicts& out) {
  out.restarted(at);
  evidence_ = {};
  cost_ = {};
  for (SortedWindow* window : {&exposed_, &communication_, &hidden_, &within_layers_}) {
    *window = SortedWindow(window->capacity());
  }
}

void CommunicationRule::add(const JobStep& step, Verdicts& out) {
  if (step.restarts) restart(step.begin(), out);
  ranks_unseen_ = std::cmp_less(step.ranks.size(), steps_.world_size());
  if (ranks_unseen_) return;
  const auto least = std::ranges::min_element(
      step.ranks, {}, [](const RankStep& rank) { return rank.step.waited_communication_ns(); });
  const StepSummary& measured = least->step;
  if (measured.duration_ns <= 0) return;
  evidence_.add(1, measured.duration_ns);
  exposed_.push(percent(measured.waited_communication_ns(), measured.duration_ns));
  within_layers_.push(percent(measured.layer_communication_ns, measured.duration_ns));
  communication_.push(percent(measured.communication_ns, measured.duration_ns));
  if (measured.communication_ns > 0)
    hidden_.push(percent(measured.overlapped_ns, measured.communication_ns));
  cost_.add(measured, static_cast<double>(measured.waited_communication_ns()) / 1e9,
            static_cast<double>(measured.duration_ns) / 1e9);
  if (warming()) return;
  const Shares now = shares();
  const Time at = time_from_ns(measured.end_ns());
  std::optional<Finding> found = judge(now);
  if (!found) {
    cost_ = {};
    return out.clear_all(at);
  }
  if (!found->opens) return out.holds({});
  Verdict& verdict = found->verdict;
  const Severity severity = evidence_.at_most(verdict.severity);
  out.fires({.at = at, .severity = severity, .figure = verdict.value}, [&] {
    cost_.describe(verdict);
    verdict.step = measured.number;
    verdict.unit = "percent";
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("steps", now.steps)
                           .field("ranks", step.ranks.size())
                           .field("step_seconds", static_cast<double>(measured.duration_ns) / 1e9)
                           .field("communication_percent", now.communication)
                           .field("exposed_percent", now.exposed)
                           .field("hidden_percent", now.hidden)
                           .field("within_layers_percent", now.within_layers)
                           .end_object()
                           .take();
    return std::move(verdict);
  });
}

std::vector<std::string_view> CommunicationRule::missing() const {
  if (ranks_unseen_ && steps_.missing().empty()) return {"the other ranks"};
  return steps_.missing();
}

CommunicationRule::Shares CommunicationRule::shares() const {
  const double hidden = hidden_.empty() ? 0 : hidden_.quantile(0.5);
  return {exposed_.size(), exposed_.quantile(0.5), communication_.quantile(0.5), hidden,
          within_layers_.quantile(0.5)};
}

void CommunicationRule::state(StateIo& io) {
  io(steps_);
  io(evidence_);
  io(cost_);
  io(ranks_unseen_);
  io(exposed_);
  io(communication_);
  io(hidden_);
  io(within_layers_);
}

}  // namespace trainwatch

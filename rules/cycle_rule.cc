// SPDX-License-Identifier: Apache-2.0
#include "rules/cycle_rule.h"

#include <algorithm>
#include <utility>

#include "rules/format.h"
#include "trainwatch/stats/median.h"

namespace trainwatch {
namespace {

constexpr double kCovered = 0.5;             // of the idle time, to name a cause
constexpr std::uint64_t kLaunchedShare = 2;  // half of the activities must have a launch

struct ReasonText {
  CauseName cause;
  std::string_view what;
};

ReasonText text_of(IdleReason reason) {
  switch (reason) {
    case IdleReason::data_wait:
      return {CauseName::input_wait, "the training thread waited for its next batch"};
    case IdleReason::host_pause:
      return {CauseName::host_pause,
              "the host did nothing visible to the profiler, for example garbage collection"};
    case IdleReason::synchronization:
      return {CauseName::synchronization, "the host had been waiting for the GPU"};
    case IdleReason::launch:
      return {CauseName::kernel_launch, "the host was preparing the next launch"};
    case IdleReason::queued:
    case IdleReason::count_:
      break;
  }
  return {CauseName::unattributed, "the next work had already been launched"};
}

}  // namespace

void CycleRule::on_cycle(const CycleSummary& cycle, Verdicts& out) {
  if (!is_judgeable(cycle)) return;
  judged_ = true;
  if (cycle.warm_up_steps == 0) return judge_regular(cycle, out);
  CycleSummary regular = cycle;
  const std::span<const StepSummary> kept = cycle.regular_steps();
  regular.steps.assign(kept.begin(), kept.end());
  regular.warm_up_steps = 0;
  judge_regular(regular, out);
}

void CycleRule::judge_regular(const CycleSummary& cycle, Verdicts& out) {
  const Time at = time_from_ns(cycle.end_ns());
  std::optional<Verdict> found = judge(cycle);
  if (!found) {
    evidence_ = {};
    cost_ = {};
    return out.clear_all(at);
  }
  for (const StepSummary& step : cycle.steps)
    evidence_.add(step.number == kNoStep ? 0 : 1, step.duration_ns);
  cost_.add(cycle.steps.front(), found->lost_seconds, static_cast<double>(cycle.step_ns()) / 1e9);
  if (found->value < found->threshold) return out.holds({});
  out.fires({.at = at, .severity = evidence_.at_most(found->severity)}, [&] {
    cost_.describe(*found);
    return *std::move(found);
  });
}

bool CycleRule::is_judgeable(const CycleSummary& cycle) {
  without_activity_ = cycle.activities == 0 || cycle.steps.empty();  // all of it may have no length
  without_launches_ = cycle.launched_activities * kLaunchedShare < cycle.activities;
  return !without_activity_ && (needs_ == Needs::activity || !without_launches_);
}

void CycleRule::state(StateIo& io) {
  io(evidence_);
  io(cost_);
  io(judged_);
  io(without_activity_);
  io(without_launches_);
}

std::vector<std::string_view> CycleRule::missing() const {
  if (without_activity_) return {"gpu activity"};
  if (without_launches_ && needs_ == Needs::launched_activities)
    return {"launches of gpu activity"};
  return {};
}

namespace cycle_text {

Cause cause_of_idle(const CycleSummary& cycle, std::span<const IdleReason> reasons,
                    std::int64_t whole_ns) {
  const IdleReason largest =
      std::ranges::max(reasons, {}, [&](IdleReason reason) { return cycle.idle(reason); });
  const double coverage = static_cast<double>(cycle.idle(largest)) / static_cast<double>(whole_ns);
  const ReasonText text = text_of(largest);
  if (coverage < kCovered || text.cause == CauseName::unattributed) return {};
  return {text.cause,
          coverage,
          "For " + format::percent(100 * coverage) + " of the idle time, " +
              std::string(text.what) + ".",
          {}};
}

void write_idle(JsonWriter& json, const CycleSummary& cycle) {
  json.key("idle_seconds_by_reason").begin_object();
  for (std::size_t i = 0; i < kIdleReasons; ++i)
    json.field(kReasons[i], static_cast<double>(cycle.idle(static_cast<IdleReason>(i))) / 1e9);
  json.end_object();
}

}  // namespace cycle_text

double median_percent(std::span<const StepSummary> steps,
                      std::int64_t (*part)(const StepSummary& step)) {
  std::vector<double> shares;
  for (const StepSummary& step : steps) {
    if (step.duration_ns <= 0) continue;
    shares.push_back(100.0 * static_cast<double>(part(step)) /
                     static_cast<double>(step.duration_ns));
  }
  return shares.empty() ? 0 : median_of(std::move(shares));
}

}  // namespace trainwatch

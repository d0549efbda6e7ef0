// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/run_headlines.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace trainwatch {
namespace {

using AlertsByJob = std::map<std::string, RunAlerts, std::less<>>;

AlertsByJob alerts_by_job(const Engine& engine) {
  AlertsByJob found;
  const std::vector<RuleConfig>& rules = engine.rules();
  engine.book().each_firing([&](std::uint32_t rule, const Alert& alert) {
    RunAlerts& own = found[alert.subject.job];
    const bool loud = alert.severity >= Severity::warning;
    (loud ? own.firing : own.info).push_back({&alert, rules[rule].spec});
  });
  engine.book().each_closed([&](const Alert& alert) {
    const std::uint32_t rule = rule_number(rules, alert.rule);
    if (alert.reached < Severity::warning || rule == rules.size()) return;
    if (alert.ended_because == EndedBecause::reconfigured) return;
    found[alert.subject.job].over.push_back({&alert, rules[rule].spec});
  });
  return found;
}

// Of the attempt that goes on, and not long ago.
void keep_recent(std::vector<AlertView>& over, const Life& life) {
  std::erase_if(over, [&](const AlertView& view) {
    return view.alert->started_at < life.attempts.back().began ||
           life.until - view.alert->ended_at > RunAlerts::kRecent;
  });
}

// What the account has lost since the alert began to its cause, or, where the alert does not know
// it or the account has another one, to any.
double lost_to(const AlertView& view, const RunLedger& run, const Life& life) {
  const Alert& alert = *view.alert;
  const Time until = alert.ended_at == kNoTime ? life.until : alert.ended_at;
  const PartSeconds spent = run.spent(alert.began(), until, life);
  const CauseName cause = alert.verdict.cause.name;
  const double own = cause == CauseName::unattributed ? 0 : spent[part_of(cause)];
  return own > 0 ? own : spent.lost();
}

// Jobs of which a GPU has been sampled.
std::set<std::string_view> jobs_with_gpus(const Interner& interner) {
  std::set<std::string_view> found;
  for (std::size_t i = 0; i < interner.series.size(); ++i) {
    const Series& series = interner.series[static_cast<SeriesId>(i)];
    const bool gpu = series.resource == Resource::gpu_utilization ||
                     series.resource == Resource::gpu_memory_utilization;
    if (gpu) found.insert(interner.subjects[series.subject].job);
  }
  return found;
}

RunView view_of(const Engine& engine, SubjectId job, const RunLedger& run) {
  RunView view;
  view.id = run.id();
  view.life = engine.ledger().life(job);
  if (view.life.steps_per_second > 0) view.seconds_per_step = 1 / view.life.steps_per_second;
  const Attempt& last = run.attempts().back();
  view.attempt = last.info.number;
  view.rank_count = std::max<std::size_t>(last.ranks().size(), 1);
  for (const auto& [subject, rank] : last.ranks()) {
    const Subject& known = engine.interner().subjects[subject];
    if (known.rank != kNoRank) view.nodes[known.node].insert(known.rank);
    view.process_gone = view.process_gone || rank.vanished;
  }
  return view;
}

}  // namespace

std::map<SubjectId, ShownRun> shown_runs(const Engine& engine) {
  std::map<SubjectId, ShownRun> shown;
  AlertsByJob alerts = alerts_by_job(engine);
  const std::set<std::string_view> with_gpus = jobs_with_gpus(engine.interner());
  for (const auto& [job, run] : engine.ledger().runs()) {
    if (run.empty()) continue;
    const std::string& name = engine.interner().subjects[job].job;
    RunView view = view_of(engine, job, run);
    view.gpus = run.has_cycles() || with_gpus.contains(name);
    RunAlerts& own = alerts[name];
    keep_recent(own.over, view.life);
    for (auto* const list : {&own.firing, &own.info, &own.over}) {
      for (AlertView& alert : *list) alert.lost = lost_to(alert, run, view.life);
    }
    Headline said = headline(view, own, view.life.until);
    shown.emplace(job, ShownRun{std::move(view), std::move(said)});
  }
  return shown;
}

}  // namespace trainwatch

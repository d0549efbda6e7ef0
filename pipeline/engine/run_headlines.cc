// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/run_headlines.h"

#include <algorithm>
#include <string>
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

bool has_gpus(const Engine& engine, SubjectId job) {
  const Interner& interner = engine.interner();
  const std::string& name = interner.subjects[job].job;
  for (std::size_t i = 0; i < interner.series.size(); ++i) {
    const Series& series = interner.series[static_cast<SeriesId>(i)];
    const bool gpu = series.resource == Resource::gpu_utilization ||
                     series.resource == Resource::gpu_memory_utilization;
    if (gpu && interner.subjects[series.subject].job == name) return true;
  }
  return engine.ledger().runs().at(job).has_cycles();
}

}  // namespace

RunView view_of(const Engine& engine, SubjectId job, Life life) {
  RunView view;
  view.life = std::move(life);
  view.id = engine.ledger().runs().at(job).id();
  const Attempt& last = engine.ledger().runs().at(job).attempts().back();
  view.attempt = last.info.number;
  if (view.life.steps_per_second > 0) view.seconds_per_step = 1 / view.life.steps_per_second;
  view.rank_count = std::max<std::size_t>(last.ranks().size(), 1);
  for (const auto& [subject, rank] : last.ranks()) {
    const Subject& known = engine.interner().subjects[subject];
    if (known.rank != kNoRank) view.nodes[known.node].insert(known.rank);
    view.process_gone = view.process_gone || rank.vanished;
  }
  view.gpus = has_gpus(engine, job);
  return view;
}

std::map<SubjectId, Headline> run_headlines(const Engine& engine) {
  std::map<SubjectId, Headline> headlines;
  AlertsByJob alerts = alerts_by_job(engine);
  for (const auto& [job, run] : engine.ledger().runs()) {
    if (run.empty()) continue;
    RunAlerts& own = alerts[engine.interner().subjects[job].job];
    const RunView view = view_of(engine, job, engine.ledger().life(job));
    keep_recent(own.over, view.life);
    headlines.emplace(job, headline(view, own, view.life.until));
  }
  return headlines;
}

}  // namespace trainwatch

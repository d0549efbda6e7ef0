// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/run_headlines.h"

#include <algorithm>
#include <string>

namespace trainwatch {
namespace {

using AlertsByJob = std::map<std::string, RunAlerts, std::less<>>;

// Means over the ranks, as they train together.
LostTime::Account mean_of(const LostTime& accounts, const Runs::Run& run,
                          const LostTime::Outstanding& loss) {
  LostTime::Account mean;
  double known = 0;
  for (const auto& [subject, rank] : run.ranks) {
    const auto one = accounts.account(subject, loss);
    if (!one) continue;
    ++known;
    mean += *one;
  }
  if (known > 0) mean /= known;
  return mean;
}

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
void keep_recent(std::vector<AlertView>& over, const Runs::Run& run) {
  const Time last_end = run.last_end();
  std::erase_if(over, [&](const AlertView& view) {
    return view.alert->started_at < run.attempts.back().begin ||
           last_end - view.alert->ended_at > RunAlerts::kRecent;
  });
}

}  // namespace

RunView view_of(const Engine& engine, const Runs::Run& run, const LostTime::Outstanding& loss) {
  RunView view;
  view.state = run.state;
  view.since = run.since;
  view.begin = run.attempts.front().begin;
  view.last_end = run.last_end();
  view.attempt = run.attempts.back().number;
  view.step = run.attempts.back().last_step;
  view.rank_count = run.ranks.size();
  for (const auto& [subject, rank] : run.ranks) {
    const Subject& known = engine.interner().subjects[subject];
    if (known.rank != kNoRank) view.nodes[known.node].insert(known.rank);
    view.seconds_per_step = std::max(view.seconds_per_step, rank.seconds_per_step);
    view.process_gone = view.process_gone || rank.gone;
  }
  view.lost = mean_of(engine.lost_time(), run, loss);
  return view;
}

std::map<SubjectId, Headline> run_headlines(const Engine& engine,
                                            const LostTime::Outstanding& loss) {
  std::map<SubjectId, Headline> headlines;
  AlertsByJob alerts = alerts_by_job(engine);
  for (const auto& [job, run] : engine.runs().all()) {
    RunAlerts& own = alerts[engine.interner().subjects[job].job];
    keep_recent(own.over, run);
    headlines.emplace(job, headline(view_of(engine, run, loss), own, engine.latest()));
  }
  return headlines;
}

}  // namespace trainwatch

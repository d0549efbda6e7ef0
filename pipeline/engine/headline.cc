// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/headline.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "pipeline/engine/alert_clauses.h"
#include "pipeline/engine/alert_cost.h"
#include "pipeline/engine/cause_words.h"
#include "pipeline/engine/headline_text.h"
#include "pipeline/engine/reasons.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

constexpr double kLeastShare = 0.005;  // of the time; less is nothing
constexpr std::string_view kNanRule = "loss_nan";
constexpr double kMuch = 0.05;  // what an alert that warns of nothing must cost to be said

std::string more_part(std::size_t alerts) {
  if (alerts < 2) return {};
  return "; and " + std::to_string(alerts - 1) + (alerts == 2 ? " more alert" : " more alerts");
}

std::string rate_part(const RunView& run) {
  return run.seconds_per_step > 0 ? "; " + rate_words(run.seconds_per_step) : std::string();
}

// "4 % was lost, mostly waiting for data"
std::string account_text(const RunView& run, bool over) {
  const double total = run.lost.total();
  if (run.lost.elapsed <= 0)
    return over ? "what was lost is not known" : "what is lost is not known";
  const double share = total / run.lost.elapsed;
  if (share < kLeastShare) return over ? "nothing was lost" : "nothing is lost";
  const auto most = std::ranges::max_element(run.lost.lost) - run.lost.lost.begin();
  return share_words(share) + " was lost, mostly " +
         std::string(words_of(static_cast<CauseName>(most)).spent);
}

std::string step_text(const RunView& run) {
  if (run.step == kNoStep) return {};
  std::string text = "step " + grouped_digits(run.step);
  if (run.attempt > 1) text += " of attempt " + std::to_string(run.attempt);
  return text;
}

// "since {since} ({for}) every step waits for data on ranks 0-7: 31 % ..."
std::string lasting_text(const AlertView& view, const RunView& run, const RunAlerts& alerts,
                         Time now) {
  const auto cost = cost_of(view, run, now);
  return "since {since} ({for}) " + lasting_clause(view, run, alerts, now) +
         (cost ? ": " + cost_text(*cost) : std::string());
}

Headline slow(const RunView& run, const RunAlerts& alerts, Time now) {
  const auto worst_first = reasons(alerts, &RunAlerts::firing, true, run, now);
  if (worst_first.empty()) return {"Slow: since {since} ({for})" + rate_part(run) + ".", run.since};
  const AlertView& worst = worst_first.front();
  std::string text = "Slow: ";
  if (is_moment(worst)) {
    const auto cost = cost_of(worst, run, now);
    text += "at {since} ({for} ago) " + moment_clause(worst, run);
    if (cost) text += ": " + gpu_time_words(cost->gpu_seconds) + " lost";
  } else {
    text += lasting_text(worst, run, alerts, now);
  }
  text += rate_part(run) + more_part(worst_first.size()) + ".";
  return {text, worst.alert->began()};
}

Headline stalled(const RunView& run, const RunAlerts& alerts, Time now) {
  const auto worst_first = reasons(alerts, &RunAlerts::firing, true, run, now);
  const std::string own = rank_ranges(run.ranks());
  const AlertView* const worst = worst_first.empty() ? nullptr : &worst_first.front();
  const std::string ranks = worst != nullptr ? ranks_of(*worst, run) : own;
  const bool one = ranks.find_first_of(",-") == std::string::npos;
  std::string text = "Stalled: " + (ranks.empty() ? "training" : ranks_text(ranks)) +
                     (one ? " has" : " have") + " ended no step since {since} ({for})";
  if (run.step != kNoStep) text += "; the last one was " + step_text(run);
  if (worst == nullptr) return {text + ".", run.since};
  const Cause& cause = worst->alert->verdict.cause;
  if (cause.name == CauseName::unattributed) {
    text += unknown_part(cause);
  } else {
    text += std::string("; ") + (one ? "it is " : "they are ") +
            std::string(words_of(cause.name).spent);
  }
  const double lost = to_seconds(now - worst->alert->began()) * ranks_concerned(*worst, run);
  text += "; " + gpu_time_words(std::max(lost, 0.0)) + " lost so far";
  return {text + more_part(worst_first.size()) + ".", worst->alert->began()};
}

// "at {since} ({for} ago) a step waited for data on rank 0: 3.4 GPU seconds lost"; of several with
// the same words "3 times since {since} ({for}) a step waited for data ...". `past`: what is over,
// the most expensive first; not empty.
Headline past_headline(const std::vector<AlertView>& past, const RunView& run) {
  const std::string clause = past_clause(past.front(), run);
  std::optional<AlertCost> lost;
  Time since = past.front().alert->began();
  std::size_t times = 0;
  for (const AlertView& view : past) {
    if (past_clause(view, run) != clause) continue;
    ++times;
    since = std::min(since, view.alert->began());
    const auto cost = cost_of(view, run, view.alert->ended_at);
    if (lost && cost) lost->gpu_seconds += cost->gpu_seconds;
    if (!lost) lost = cost;
  }
  std::string text = times == 1 ? "at {since} ({for} ago) "
                                : std::to_string(times) + " times since {since} ({for}) ";
  text += clause;
  if (lost) text += ": " + std::string(lost->how) + gpu_time_words(lost->gpu_seconds) + " lost";
  return {text + more_part(past.size() - times + 1) + ".", since};
}

Headline running(const RunView& run, const RunAlerts& alerts, Time now) {
  std::string text = "Running";
  const std::string step = step_text(run);
  if (run.seconds_per_step > 0) text += ": " + rate_words(run.seconds_per_step);
  if (!step.empty()) text += (run.seconds_per_step > 0 ? ", " : ": ") + step;
  text += "; ";
  if (const auto others = reasons(alerts, &RunAlerts::firing, false, run, now); !others.empty()) {
    const AlertView& worst = others.front();
    text += lasting_text(worst, run, alerts, now) + more_part(others.size()) + ".";
    return {text, worst.alert->began()};
  }
  if (const auto past = reasons(alerts, &RunAlerts::over, true, run, now); !past.empty()) {
    const Headline said = past_headline(past, run);
    return {text + said.text, said.since};
  }
  if (const auto info = reasons(alerts, &RunAlerts::info, true, run, now); !info.empty()) {
    const AlertView& worst = info.front();
    const auto cost = cost_of(worst, run, now);
    if (cost && cost->share && *cost->share >= kMuch) {
      return {text + lasting_text(worst, run, alerts, now) + ".", worst.alert->began()};
    }
  }
  return {text + account_text(run, false) + ".", kNoTime};
}

Headline starting(const RunView& run) {
  const std::string step = step_text(run);
  return {"Starting: since {since} ({for})" + (step.empty() ? step : ", " + step) +
              "; its usual pace is not known yet.",
          run.since};
}

// What is to be known of the result of a run that is over: its values are of no use.
std::string result_part(const RunAlerts& alerts) {
  const auto ruined = [](const AlertView& view) {
    const bool recovered = view.alert->state == Alert::State::resolved &&
                           view.alert->ended_because == EndedBecause::recovered;
    return view.rule->id == kNanRule && !recovered;
  };
  const AlertView* found = nullptr;
  for (const auto* const list : {&alerts.firing, &alerts.over}) {
    const auto first = std::ranges::find_if(*list, ruined);
    if (found == nullptr && first != list->end()) found = &*first;
  }
  if (found == nullptr) return {};
  const std::int64_t step = found->alert->verdict.step;
  return "; at the end its loss was no finite number" +
         (step == kNoStep ? std::string() : ", since step " + grouped_digits(step));
}

Headline finished(const RunView& run, const RunAlerts& alerts) {
  std::string text = "Finished";
  if (run.step != kNoStep) text += " at " + step_text(run);
  text += " after " + duration_words(run.last_end - run.begin) + " (";
  const std::string ranks = rank_ranges(run.ranks());
  if (!ranks.empty()) text += ranks_text(ranks) + ", ";
  text += "until {since}); " + account_text(run, true) + result_part(alerts);
  return {text + ".", run.since};
}

Headline gone(const RunView& run, const RunAlerts& alerts) {
  const std::string ranks = rank_ranges(run.ranks());
  std::string text = "Gone: nothing has come since {since} ({for})";
  if (!ranks.empty()) text += " from " + ranks_text(ranks);
  if (run.process_gone) text += ", and the process no longer exists";
  if (run.step != kNoStep) text += "; the last one was " + step_text(run);
  return {text + "; " + account_text(run, true) + result_part(alerts) + ".", run.since};
}

}  // namespace

std::set<std::int32_t> RunView::ranks() const {
  std::set<std::int32_t> all;
  for (const auto& [node, ranks] : nodes) all.insert(ranks.begin(), ranks.end());
  return all;
}

Headline headline(const RunView& run, const RunAlerts& alerts, Time now) {
  switch (run.state) {
    case RunState::starting:
      return starting(run);
    case RunState::slow:
      return slow(run, alerts, now);
    case RunState::stalled:
      return stalled(run, alerts, now);
    case RunState::finished:
      return finished(run, alerts);
    case RunState::gone:
      return gone(run, alerts);
    case RunState::running:
    case RunState::count_:
      break;
  }
  return running(run, alerts, now);
}

}  // namespace trainwatch

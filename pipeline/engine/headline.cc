// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/headline.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "pipeline/engine/alert_clauses.h"
#include "pipeline/engine/alert_cost.h"
#include "pipeline/engine/cause_words.h"
#include "pipeline/engine/end_words.h"
#include "pipeline/engine/headline_text.h"
#include "pipeline/engine/reasons.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

constexpr double kLeastShare = 0.001;  // of the time; less is nothing
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
  const Life& life = run.life;
  if (life.wall <= 0 || life.step == kNoStep)
    return over ? "what was lost is not known" : "what is lost is not known";
  const double share = life.lost() / life.wall;
  if (share < kLeastShare) return over ? "nothing was lost" : "nothing is lost";
  if (share < 0.01) return "less than 1 % was lost";
  LifePart most = LifePart::unattributed;
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    if (is_lost(part) && life.parts[part] > life.parts[most]) most = part;
  }
  return share_words(share) + " was lost, mostly " + std::string(spent_words(most));
}

std::string step_text(const RunView& run) {
  if (run.life.step == kNoStep) return {};
  std::string text = "step " + grouped_digits(run.life.step);
  if (run.life.total_steps > run.life.step) text += " of " + grouped_digits(run.life.total_steps);
  if (run.attempt > 1) text += " of attempt " + std::to_string(run.attempt);
  return text;
}

// "since {since} ({for}) every step waits for data on ranks 0-7: 31 % ..."
std::string lasting_text(const AlertView& view, const RunView& run, const RunAlerts& alerts,
                         Time now) {
  const auto cost = cost_of(view, now);
  return "since {since} ({for}) " + lasting_clause(view, run, alerts, now) +
         (cost ? ": " + cost_text(*cost, run) : std::string());
}

bool is_one(std::string_view ranks) {
  return ranks.find_first_of(",-") == std::string_view::npos;
}

// "ranks 0-3 have ended no step"
std::string standing(const std::string& ranks) {
  return (ranks.empty() ? "training" : ranks_text(ranks)) + (is_one(ranks) ? " has" : " have") +
         " ended no step";
}

// "the loss is NaN since step 320 (loss), 12 s ago": the first part of what the alert says.
std::string nan_text(const AlertView& view) {
  const std::string& summary = view.alert->verdict.summary;
  std::string clause = summary.substr(0, std::min(summary.find("; "), summary.rfind('.')));
  if (!clause.empty()) clause[0] = static_cast<char>(std::tolower(clause[0]));
  return clause + ", {for} ago";
}

// Of an alert that fires.
std::string present_text(const AlertView& view, const RunView& run, const RunAlerts& alerts,
                         Time now) {
  if (is_stall(view)) return "since {since} ({for}) " + standing(ranks_of(view, run));
  if (view.rule->id == kNanRule) return nan_text(view);
  if (!is_moment(view)) return lasting_text(view, run, alerts, now);
  const auto cost = cost_of(view, now);
  return "at {since} ({for} ago) " + moment_clause(view, run) +
         (cost ? ": " + run.cost_words(cost->seconds) + " lost" : std::string());
}

std::string since_step(const AlertView& view) {
  const std::int64_t step = view.alert->verdict.step;
  return step == kNoStep ? std::string() : ", since step " + grouped_digits(step);
}

// Whatever else there is to say: steps whose loss is NaN are of no use. `said`: what the sentence
// is about.
std::string nan_part(const RunAlerts& alerts, const AlertView* said) {
  if (said != nullptr && said->rule->id == kNanRule) return {};
  const auto found = std::ranges::find_if(
      alerts.firing, [](const AlertView& view) { return view.rule->id == kNanRule; });
  if (found == alerts.firing.end()) return {};
  return "; its loss is no finite number" + since_step(*found);
}

Headline slow(const RunView& run, const RunAlerts& alerts, Time now) {
  const auto worst_first = reasons(alerts, &RunAlerts::firing, true, run, now);
  if (worst_first.empty()) {
    return {"Slow: since {since} ({for})" + rate_part(run) + nan_part(alerts, nullptr) + "; " +
                account_text(run, false) + ".",
            run.life.since};
  }
  const AlertView& worst = worst_first.front();
  return {"Slow: " + present_text(worst, run, alerts, now) + rate_part(run) +
              nan_part(alerts, &worst) + more_part(worst_first.size()) + ".",
          worst.alert->began()};
}

// It costs what the account has of it, which grows with the clock.
Headline stalled(const RunView& run, const RunAlerts& alerts, Time now) {
  const auto worst_first = reasons(alerts, &RunAlerts::firing, true, run, now);
  const auto stall = std::ranges::find_if(worst_first, is_stall);
  const AlertView* const worst = stall == worst_first.end() ? nullptr : &*stall;
  const std::string ranks = worst != nullptr ? ranks_of(*worst, run) : rank_ranges(run.ranks());
  const bool one = is_one(ranks);
  std::string text = "Stalled: " + standing(ranks) + " since {since} ({for})";
  if (run.life.step != kNoStep) text += "; the last one was " + step_text(run);
  if (worst != nullptr) {
    const Cause& cause = worst->alert->verdict.cause;
    if (cause.name == CauseName::unattributed) {
      text += unknown_part(cause);
    } else {
      text += std::string("; ") + (one ? "it is " : "they are ") +
              std::string(words_of(cause.name).spent);
    }
  }
  const bool known = run.life.since != kNoTime;
  const double lost = known ? to_seconds(run.life.until - run.life.since) : 0;
  // Many logs end without saying so.
  text += run.life.grew ? "; " + run.cost_words(std::max(lost, 0.0)) + " lost so far"
                        : "; its log has not grown since it was found, so it may be over";
  return {text + nan_part(alerts, worst) + more_part(worst_first.size()) + ".", run.life.since};
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
    const auto cost = cost_of(view, view.alert->ended_at);
    if (lost && cost) lost->seconds += cost->seconds;
    if (!lost) lost = cost;
  }
  std::string text = times == 1 ? "at {since} ({for} ago) "
                                : std::to_string(times) + " times since {since} ({for}) ";
  text += clause;
  if (lost) text += ": " + run.cost_words(lost->seconds) + " lost";
  return {text + more_part(past.size() - times + 1) + ".", since};
}

Headline running(const RunView& run, const RunAlerts& alerts, Time now) {
  std::string text = "Running";
  const std::string step = step_text(run);
  if (run.seconds_per_step > 0) text += ": " + rate_words(run.seconds_per_step);
  if (!step.empty()) text += (run.seconds_per_step > 0 ? ", " : ": ") + step;
  text += "; ";
  for (const bool about_loss : {true, false}) {
    const auto firing = reasons(alerts, &RunAlerts::firing, about_loss, run, now);
    if (firing.empty()) continue;
    const AlertView& worst = firing.front();
    text += present_text(worst, run, alerts, now) + nan_part(alerts, &worst) +
            more_part(firing.size()) + ".";
    return {text, worst.alert->began()};
  }
  if (const auto past = reasons(alerts, &RunAlerts::over, true, run, now); !past.empty()) {
    const Headline said = past_headline(past, run);
    return {text + said.text, said.since};
  }
  if (const auto info = reasons(alerts, &RunAlerts::info, true, run, now); !info.empty()) {
    const AlertView& worst = info.front();
    const auto cost = cost_of(worst, now);
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
          run.life.since};
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
  return "; at the end its loss was no finite number" + since_step(*found);
}

// " after 4 h 7 min (ranks 0-7, until {since})"; `until`: in these words
std::string span_text(const RunView& run, std::string_view until) {
  std::string text = " after " + duration_words(run.life.until - run.life.began_at);
  const std::string ranks = rank_ranges(run.ranks());
  const std::string inside = (ranks.empty() ? ranks : ranks_text(ranks)) + std::string(until);
  return text + (inside.empty() ? inside : " (" + inside + ")");
}

Headline finished(const RunView& run, const RunAlerts& alerts) {
  std::string text = "Finished";
  if (run.life.step != kNoStep) text += " at " + step_text(run);
  text += span_text(run, run.ranks().empty() ? "until {since}" : ", until {since}");
  text += "; " + account_text(run, true) + result_part(alerts);
  return {text + ".", run.life.since};
}

Headline gone(const RunView& run, const RunAlerts& alerts) {
  const std::string ranks = rank_ranges(run.ranks());
  std::string text = "Gone: nothing has come since {since} ({for})";
  if (!ranks.empty()) text += " from " + ranks_text(ranks);
  if (run.process_gone) text += ", and the process no longer exists";
  if (run.life.step != kNoStep) text += "; the last one was " + step_text(run);
  return {text + "; " + account_text(run, true) + result_part(alerts) + ".", run.life.since};
}

// "Failed at step 100 of 10,000 after 4 h (ranks 0-7), {for} ago: CUDA out of memory on rank 3;
// ..."
Headline ended_badly(const RunView& run, const RunAlerts& alerts, std::string_view how) {
  std::string text(how);
  text += run.life.step == kNoStep ? " before the first step" : " at " + step_text(run);
  text += span_text(run, "") + ", {for} ago";
  if (run.life.end) text += ": " + end_words(run.life.end->how);
  return {text + "; " + account_text(run, true) + result_part(alerts) + ".", run.life.since};
}

}  // namespace

double RunView::ranks_of_job() const {
  const std::uint32_t said = life.attempts.empty() ? 0 : life.attempts.back().ranks;
  return static_cast<double>(std::max<std::size_t>({rank_count, said, 1}));
}

std::string RunView::cost_words(double seconds) const {
  return gpus ? gpu_time_words(seconds * ranks_of_job()) : duration_words(from_seconds(seconds));
}

std::set<std::int32_t> RunView::ranks() const {
  std::set<std::int32_t> all;
  for (const auto& [node, ranks] : nodes) all.insert(ranks.begin(), ranks.end());
  return all;
}

Headline headline(const RunView& run, const RunAlerts& alerts, Time now) {
  switch (run.life.state) {
    case LifeState::starting:
      return starting(run);
    case LifeState::slow:
      return slow(run, alerts, now);
    case LifeState::stalled:
      return stalled(run, alerts, now);
    case LifeState::finished:
      return finished(run, alerts);
    case LifeState::gone:
      return gone(run, alerts);
    case LifeState::failed:
      return ended_badly(run, alerts, "Failed");
    case LifeState::cancelled:
      return ended_badly(run, alerts, "Cancelled");
    case LifeState::running:
    case LifeState::count_:
      break;
  }
  return running(run, alerts, now);
}

}  // namespace trainwatch

#include "pipeline/engine/headline.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "pipeline/engine/cause_words.h"
#include "pipeline/engine/headline_text.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

constexpr std::string_view kStallRule = "stall";
constexpr double kLeastShare = 0.005;  // of the time; less is nothing
constexpr double kMuch = 0.05;         // what an alert that warns of nothing must cost to be said
// A figure this much older than the condition is not its cost so far.
constexpr double kStale = 1.5;

struct Cost {
  std::optional<double> share;  // of the time since it began
  double gpu_seconds = 0;
  std::string_view how;  // "", "about ", "at least "
  std::string_view of = "the time";
};

std::string ranks_text(std::string_view ranks) {
  const bool one = ranks.find_first_of(",-") == std::string_view::npos;
  return (one ? "rank " : "ranks ") + std::string(ranks);
}

bool is_stall(const AlertView& view) {
  return view.rule->id == kStallRule;
}

bool speaks(const AlertView& view) {
  return view.alert->incident.empty() || view.alert->incident == view.alert->id;
}

// Of a rule about single steps: it is about one, or a few that came together.
bool is_moment(const AlertView& view) {
  return view.rule->incident.of_one_step && view.alert->began() >= view.alert->verdict.window_start;
}

// The rank is the one that all others wait for.
bool names_culprit(const AlertView& view) {
  return view.rule->scope == Scope::job && view.alert->subject.rank != kNoRank;
}

// The ranks that the alert is about; empty: none has a number.
std::string ranks_of(const AlertView& view, const RunView& run) {
  const Alert& alert = *view.alert;
  if (!alert.ranks.empty()) return alert.ranks;
  if (alert.subject.rank != kNoRank) return std::to_string(alert.subject.rank);
  if (alert.subject.process != kNoProcess) return {};
  if (alert.subject.node.empty()) return rank_ranges(run.ranks());
  const auto node = run.nodes.find(alert.subject.node);
  return node == run.nodes.end() ? std::string() : rank_ranges(node->second);
}

// " on ranks 0-7", " on GPU 0 of algo-1 (rank 0)"
std::string place_of(const AlertView& view, const RunView& run) {
  const Subject& subject = view.alert->subject;
  const std::string ranks = ranks_of(view, run);
  const bool sampled = view.rule->scope == Scope::node || view.rule->scope == Scope::gpu;
  if (!sampled) {
    if (!ranks.empty()) return " on " + ranks_text(ranks);
    const std::string name = writer_name(subject);
    return name.empty() ? name : " on " + name;
  }
  std::string place = subject.gpu.empty() ? " on node " + subject.node : " on GPU " + subject.gpu;
  if (!subject.gpu.empty() && !subject.node.empty()) place += " of " + subject.node;
  return ranks.empty() ? place : place + " (" + ranks_text(ranks) + ")";
}

// How many ranks lose the time.
double ranks_concerned(const AlertView& view, const RunView& run) {
  const Alert& alert = *view.alert;
  std::size_t ranks = 1;
  if (view.rule->scope == Scope::job) {
    ranks = run.rank_count;
  } else if (!alert.ranks.empty()) {
    ranks = count_ranks(alert.ranks);
  } else if (view.rule->scope == Scope::node) {
    const auto node = run.nodes.find(alert.subject.node);
    if (node != run.nodes.end()) ranks = node->second.size();
  }
  return static_cast<double>(std::max<std::size_t>(ranks, 1));
}

bool knows_cycles_only(const RuleSpec& rule) {
  return rule.interest.cycles && !rule.interest.steps && !rule.interest.complete_steps;
}

// Nothing: the rule does not measure it. A percentage is of the recent steps; a rule about profiler
// cycles knows only what was recorded.
std::optional<Cost> cost_of(const AlertView& view, const RunView& run, Time until) {
  const Alert& alert = *view.alert;
  const Verdict& verdict = alert.verdict;
  if (!(verdict.lost_seconds > 0)) return std::nullopt;
  const double ranks = ranks_concerned(view, run);
  if (is_moment(view)) return Cost{std::nullopt, verdict.lost_seconds * ranks, ""};
  const bool percent = verdict.unit == "percent";
  const double recent = std::clamp(verdict.value / 100, 0.0, 1.0);
  if (knows_cycles_only(*view.rule)) {
    return Cost{percent ? std::optional(recent) : std::nullopt, verdict.lost_seconds * ranks,
                "at least ", "the recorded time"};
  }
  const double elapsed = to_seconds(until - alert.began());
  const double measured = to_seconds(alert.updated_at - alert.began());
  if (percent) return Cost{recent, recent * elapsed * ranks, "about "};
  const double known = verdict.lost_seconds * ranks;
  if (measured <= 0) return Cost{std::nullopt, known, elapsed > 0 ? "at least " : ""};
  const double share = std::min(verdict.lost_seconds / measured, 1.0);
  if (elapsed > kStale * measured) return Cost{share, share * elapsed * ranks, "about "};
  return Cost{share, known, ""};
}

// "training waits for its data", from the rule's "Training waits for its data."
std::string rule_clause(const RuleSpec& rule) {
  std::string text(rule.summary);
  while (text.ends_with('.')) text.pop_back();
  const bool word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  const bool article = text.starts_with("A ");
  if ((word || article) && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

std::string unknown_part(const Cause& cause) {
  if (cause.name != CauseName::unattributed) return {};
  std::string text = ", and the cause is not known";
  for (std::size_t i = 0; i < cause.missing.size(); ++i) {
    text += (i == 0 ? " (missing: " : ", ") + cause.missing[i];
  }
  return cause.missing.empty() ? text : text + ")";
}

// That others wait, for whom, or that they exchange data.
bool is_waiting_for_others(CauseName cause) {
  return cause == CauseName::communication || cause == CauseName::straggler;
}

// The one alert of the incident that says why its rank is slow, where all others only wait.
const AlertView* culprit_of(const AlertView& speaker, const std::vector<AlertView>& firing) {
  if (!is_waiting_for_others(speaker.alert->verdict.cause.name)) return nullptr;
  const AlertView* culprit = nullptr;
  for (const AlertView& view : firing) {
    const Alert& alert = *view.alert;
    const CauseName cause = alert.verdict.cause.name;
    const bool knows = cause != CauseName::unattributed && !is_waiting_for_others(cause);
    if (alert.incident != speaker.alert->id || !knows || view.rule->incident.of_one_step) continue;
    if (alert.subject.rank == kNoRank) continue;
    if (culprit != nullptr && culprit->alert->subject.rank != alert.subject.rank) return nullptr;
    culprit = &view;
  }
  return culprit;
}

// What goes on, where, and what of that is not known.
std::string lasting_clause(const AlertView& view, const RunView& run,
                           const std::vector<AlertView>& firing) {
  const Cause& cause = view.alert->verdict.cause;
  const CauseWords& words = words_of(cause.name);
  if (const AlertView* const culprit = culprit_of(view, firing)) {
    return "the other ranks wait for rank " + std::to_string(culprit->alert->subject.rank) +
           ", which is " + std::string(words_of(culprit->alert->verdict.cause.name).spent);
  }
  if (cause.name == CauseName::straggler && names_culprit(view)) {
    return "the other ranks wait for rank " + std::to_string(view.alert->subject.rank);
  }
  std::string text(view.rule->incident.of_one_step ? words.recurring : words.lasting);
  if (text.empty()) text = rule_clause(*view.rule);
  return text + place_of(view, run) + unknown_part(cause);
}

std::string moment_clause(const AlertView& view, const RunView& run) {
  const Cause& cause = view.alert->verdict.cause;
  return std::string(words_of(cause.name).once) + place_of(view, run) + unknown_part(cause);
}

// Of what is over.
std::string past_clause(const AlertView& view, const RunView& run) {
  const Alert& alert = *view.alert;
  const Cause& cause = alert.verdict.cause;
  const std::string rest = place_of(view, run) + unknown_part(cause);
  const std::string took = " for " + duration_words(alert.ended_at - alert.began());
  if (is_stall(view)) {
    const bool known = cause.name != CauseName::unattributed;
    const std::string why = known ? ", " + std::string(words_of(cause.name).spent) : "";
    return "training stood still" + took + why + rest;
  }
  if (is_moment(view)) return std::string(words_of(cause.name).once) + rest;
  if (cause.name == CauseName::unattributed) return "training was slow" + took + rest;
  return "training was " + std::string(words_of(cause.name).spent) + took + rest;
}

// The most expensive first.
void sort_by_cost(std::vector<AlertView>& views, const RunView& run, Time now) {
  const auto rank = [&](const AlertView& view) {
    const Time until = view.alert->ended_at == kNoTime ? now : view.alert->ended_at;
    const auto cost = cost_of(view, run, until);
    return std::tuple(is_stall(view), cost ? cost->gpu_seconds : 0.0, view.alert->severity,
                      view.rule->incident.specificity);
  };
  std::ranges::sort(views, [&](const AlertView& a, const AlertView& b) {
    const auto first = rank(a);
    const auto second = rank(b);
    if (first != second) return first > second;
    return std::pair(a.alert->began(), a.alert->id) < std::pair(b.alert->began(), b.alert->id);
  });
}

// Those that speak; all, if none does. `about_loss`: of rules about lost time, or of the others.
std::vector<AlertView> choose(const std::vector<AlertView>& views, const RunView& run, Time now,
                              bool about_loss) {
  std::vector<AlertView> chosen;
  for (const bool speakers : {true, false}) {
    if (!chosen.empty()) break;
    std::ranges::copy_if(views, std::back_inserter(chosen), [&](const AlertView& view) {
      return (view.rule->incident.specificity != 0) == about_loss && (!speakers || speaks(view));
    });
  }
  sort_by_cost(chosen, run, now);
  return chosen;
}

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

// "31 % of the time is lost, 41 GPU minutes so far"
std::string cost_text(const Cost& cost) {
  std::string text;
  if (cost.share) text = share_words(*cost.share) + " of " + std::string(cost.of) + " is lost, ";
  text += std::string(cost.how) + gpu_time_words(cost.gpu_seconds);
  return text + (cost.share ? " so far" : " lost so far");
}

// "since {since} ({for}) every step waits for data on ranks 0-7: 31 % ..."
std::string lasting_text(const AlertView& view, const RunView& run,
                         const std::vector<AlertView>& firing, Time now) {
  const auto cost = cost_of(view, run, now);
  return "since {since} ({for}) " + lasting_clause(view, run, firing) +
         (cost ? ": " + cost_text(*cost) : std::string());
}

Headline slow(const RunView& run, const RunAlerts& alerts, Time now) {
  const std::vector<AlertView> reasons = choose(alerts.firing, run, now, true);
  if (reasons.empty()) return {"Slow: since {since} ({for})" + rate_part(run) + ".", run.since};
  const AlertView& worst = reasons.front();
  std::string text = "Slow: ";
  if (is_moment(worst)) {
    const auto cost = cost_of(worst, run, now);
    text += "at {since} ({for} ago) " + moment_clause(worst, run);
    if (cost) text += ": " + gpu_time_words(cost->gpu_seconds) + " lost";
  } else {
    text += lasting_text(worst, run, alerts.firing, now);
  }
  text += rate_part(run) + more_part(reasons.size()) + ".";
  return {text, worst.alert->began()};
}

Headline stalled(const RunView& run, const std::vector<AlertView>& reasons, Time now) {
  const std::string own = rank_ranges(run.ranks());
  const AlertView* const worst = reasons.empty() ? nullptr : &reasons.front();
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
  return {text + more_part(reasons.size()) + ".", worst->alert->began()};
}

Headline running(const RunView& run, const RunAlerts& alerts, Time now) {
  std::string text = "Running";
  const std::string step = step_text(run);
  if (run.seconds_per_step > 0) text += ": " + rate_words(run.seconds_per_step);
  if (!step.empty()) text += (run.seconds_per_step > 0 ? ", " : ": ") + step;
  text += "; ";
  if (const auto others = choose(alerts.firing, run, now, false); !others.empty()) {
    const AlertView& worst = others.front();
    text += lasting_text(worst, run, alerts.firing, now) + more_part(others.size()) + ".";
    return {text, worst.alert->began()};
  }
  if (const auto past = choose(alerts.over, run, now, true); !past.empty()) {
    const AlertView& worst = past.front();
    text += "at {since} ({for} ago) " + past_clause(worst, run);
    if (const auto cost = cost_of(worst, run, worst.alert->ended_at)) {
      text += ": " + std::string(cost->how) + gpu_time_words(cost->gpu_seconds) + " lost";
    }
    return {text + more_part(past.size()) + ".", worst.alert->began()};
  }
  if (const auto info = choose(alerts.info, run, now, true); !info.empty()) {
    const AlertView& worst = info.front();
    const auto cost = cost_of(worst, run, now);
    if (cost && cost->share && *cost->share >= kMuch) {
      return {text + lasting_text(worst, run, alerts.info, now) + ".", worst.alert->began()};
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

Headline finished(const RunView& run) {
  std::string text = "Finished";
  if (run.step != kNoStep) text += " at " + step_text(run);
  text += " after " + duration_words(run.last_end - run.begin) + " (";
  const std::string ranks = rank_ranges(run.ranks());
  if (!ranks.empty()) text += ranks_text(ranks) + ", ";
  return {text + "until {since}); " + account_text(run, true) + ".", run.since};
}

Headline gone(const RunView& run) {
  const std::string ranks = rank_ranges(run.ranks());
  std::string text = "Gone: nothing has come since {since} ({for})";
  if (!ranks.empty()) text += " from " + ranks_text(ranks);
  if (run.process_gone) text += ", and the process no longer exists";
  if (run.step != kNoStep) text += "; the last one was " + step_text(run);
  return {text + "; " + account_text(run, true) + ".", run.since};
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
      return stalled(run, choose(alerts.firing, run, now, true), now);
    case RunState::finished:
      return finished(run);
    case RunState::gone:
      return gone(run);
    case RunState::running:
    case RunState::count_:
      break;
  }
  return running(run, alerts, now);
}

}  // namespace trainwatch

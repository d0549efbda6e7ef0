// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_clauses.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "pipeline/engine/alert_cost.h"
#include "pipeline/engine/cause_words.h"
#include "pipeline/engine/headline_text.h"
#include "pipeline/engine/reasons.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

constexpr std::string_view kStallRule = "stall";
constexpr double kEnough = 0.5;  // share of the loss that a cause must explain

// The rank is the one that all others wait for.
bool names_culprit(const AlertView& view) {
  return view.rule->scope == Scope::job && view.alert->subject.rank != kNoRank;
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

// "training waits for its data", from the rule's "Training waits for its data."
std::string rule_clause(const RuleSpec& rule) {
  std::string text(rule.summary);
  while (text.ends_with('.')) text.pop_back();
  const bool word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  const bool article = text.starts_with("A ");
  if ((word || article) && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

// That others wait, for whom, or that they exchange data.
bool is_waiting_for_others(CauseName cause) {
  return cause == CauseName::communication || cause == CauseName::straggler;
}

// Knows why its own rank is slow. host_pause inferred from short phases does not count, because it
// is inferred for waiting ranks, too.
bool knows_why(const AlertView& view) {
  const Verdict& verdict = view.alert->verdict;
  const CauseName cause = verdict.cause.name;
  if (cause == CauseName::host_pause) return verdict.own_cause == cause;
  return cause != CauseName::unattributed && !is_waiting_for_others(cause);
}

// Whether `part`, which may be `speaker` itself, explains what `speaker` reports. If the speaker
// does not know the cause, an alert of another incident may explain it: incidents end and reopen.
bool explains(const AlertView& part, const AlertView& speaker, Time now) {
  if (is_moment(part) || !knows_why(part)) return false;
  if (part.rule->incident.of_one_step != speaker.rule->incident.of_one_step) return false;
  if (speaker.alert->verdict.cause.name != CauseName::unattributed) {
    return incident_of(part) == incident_of(speaker);
  }
  const auto known = cost_of(part, now);
  const auto all = cost_of(speaker, now);
  return known && all && known->share && all->share && *known->share >= kEnough * *all->share;
}

// Whether another rank with the same alert does not know why it is slow.
bool others_wait(const AlertView& speaker, std::int32_t rank, const RunAlerts& alerts) {
  if (is_waiting_for_others(speaker.alert->verdict.cause.name)) return true;
  return std::ranges::any_of(alerts.firing, [&](const AlertView& view) {
    const bool same = view.rule == speaker.rule && incident_of(view) == incident_of(speaker);
    return same && view.alert->subject.rank != rank && !knows_why(view);
  });
}

// The clause of the alerts that explain `speaker`: "the other ranks wait for rank 3, which is
// computing longer than before" if all are about one rank; otherwise, if the speaker does not know
// the cause, "every step waits for data on ranks 0-3". Empty: the speaker's own clause is better.
std::string explained_clause(const AlertView& speaker, const RunView& run, const RunAlerts& alerts,
                             Time now) {
  std::vector<AlertView> parts;
  for (const auto* const list : {&alerts.firing, &alerts.info}) {
    std::ranges::copy_if(*list, std::back_inserter(parts),
                         [&](const AlertView& part) { return explains(part, speaker, now); });
  }
  if (parts.empty()) return {};
  AlertView first = *std::ranges::max_element(
      parts, {}, [](const AlertView& part) { return part.rule->incident.specificity; });
  const CauseName cause = first.alert->verdict.cause.name;
  std::set<std::int32_t> ranks;
  std::set<std::int32_t> agree;
  for (const AlertView& part : parts) {
    ranks.insert(part.alert->subject.rank);
    if (part.alert->verdict.cause.name == cause) agree.insert(part.alert->subject.rank);
  }
  const std::int32_t rank = *ranks.begin();
  const bool some = speaker.rule->incident.of_one_step;
  const bool one = ranks.size() == 1 && rank != kNoRank && !some;
  if (one && others_wait(speaker, rank, alerts)) {
    return "the other ranks wait for rank " + std::to_string(rank) + ", which is " +
           std::string(words_of(cause).spent);
  }
  if (speaker.alert->verdict.cause.name != CauseName::unattributed) return {};
  if (agree.size() > 1 && !agree.contains(kNoRank)) first.ranks = rank_ranges(agree);
  const CauseWords& words = words_of(cause);
  return std::string(some ? words.recurring : words.lasting) + place_of(first, run);
}

}  // namespace

std::string ranks_text(std::string_view ranks) {
  const bool one = ranks.find_first_of(",-") == std::string_view::npos;
  return (one ? "rank " : "ranks ") + std::string(ranks);
}

bool is_stall(const AlertView& view) {
  return view.rule->id == kStallRule;
}

bool is_moment(const AlertView& view) {
  return view.rule->incident.of_one_step && view.alert->began() >= view.alert->verdict.window_start;
}

std::string ranks_of(const AlertView& view, const RunView& run) {
  const Alert& alert = *view.alert;
  if (!view.ranks.empty()) return view.ranks;
  if (!alert.ranks.empty()) return alert.ranks;
  if (alert.subject.rank != kNoRank) return std::to_string(alert.subject.rank);
  if (alert.subject.process != kNoProcess) return {};
  if (alert.subject.node.empty()) return rank_ranges(run.ranks());
  const auto node = run.nodes.find(alert.subject.node);
  return node == run.nodes.end() ? std::string() : rank_ranges(node->second);
}

std::string unknown_part(const Cause& cause) {
  if (cause.name != CauseName::unattributed) return {};
  std::string text = ", and the cause is not known";
  for (std::size_t i = 0; i < cause.missing.size(); ++i) {
    text += (i == 0 ? " (missing: " : ", ") + cause.missing[i];
  }
  return cause.missing.empty() ? text : text + ")";
}

std::string lasting_clause(const AlertView& view, const RunView& run, const RunAlerts& alerts,
                           Time now) {
  const Cause& cause = view.alert->verdict.cause;
  const CauseWords& words = words_of(cause.name);
  if (std::string clause = explained_clause(view, run, alerts, now); !clause.empty()) return clause;
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

}  // namespace trainwatch

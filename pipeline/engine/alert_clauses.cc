#include "pipeline/engine/alert_clauses.h"

#include "pipeline/engine/cause_words.h"
#include "pipeline/engine/headline_text.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

constexpr std::string_view kStallRule = "stall";

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

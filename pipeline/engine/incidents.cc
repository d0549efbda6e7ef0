#include "pipeline/engine/incidents.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <utility>

#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

constexpr std::string_view kIncidentRows = "incident/";

std::string text_of(const Subject& subject) {
  return subject.job + '\n' + writer_name(subject) + '\n' + std::to_string(subject.rank) + '\n' +
         subject.gpu;
}

}  // namespace

Incidents::Entry Incidents::entry_of(const Alert& alert, const RuleSpec& rule) {
  Entry entry;
  entry.id = alert.id;
  entry.rule = alert.rule;
  entry.job = alert.subject.job;
  entry.subject = text_of(alert.subject);
  entry.rank = alert.subject.rank;
  const Time since = alert.verdict.since;
  entry.since = since == kNoTime ? alert.started_at : std::min(since, alert.started_at);
  entry.opened = alert.started_at;
  entry.slack = rule.incident.slack;
  if (rule.incident.of_one_step) entry.step = alert.verdict.step;
  entry.specificity = rule.incident.specificity;
  entry.alone = rule.incident.alone;
  entry.of_one_cause = rule.incident.of_one_cause;
  entry.cause = alert.verdict.own_cause;
  entry.severity = alert.severity;
  return entry;
}

bool Incidents::belong_together(const Entry& a, const Entry& b) {
  if (a.job != b.job || a.alone || b.alone) return false;
  const bool same_rule = a.rule == b.rule;
  if (!same_rule && (a.specificity == 0 || b.specificity == 0)) return false;
  if (!same_rule && a.of_one_cause && b.of_one_cause && a.cause != b.cause) return false;
  if (same_rule && a.subject != b.subject && a.step != kNoStep && b.step != kNoStep) {
    return std::abs(a.step - b.step) <= 1;
  }
  const Nanos slack = same_rule && a.subject == b.subject ? Nanos{} : std::max(a.slack, b.slack);
  return a.since - slack <= b.opened && b.since - slack <= a.opened;
}

Incidents::Entry& Incidents::enter(Entry entry) {
  if (entries_.size() == kMost) entries_.pop_front();
  entry.number = entry.incident = next_number_++;
  for (const Entry& other : entries_) {
    if (other.incident == entry.incident || !belong_together(entry, other)) continue;
    const std::uint64_t joined = other.incident;
    for (Entry& member : entries_) {
      if (member.incident != entry.incident) continue;
      member.incident = joined;
      changed_.push_back(member.number);
    }
    entry.incident = joined;
  }
  changed_.push_back(entry.number);
  return entries_.emplace_back(std::move(entry));
}

const Incidents::Entry& Incidents::speaker_of(std::uint64_t incident) const {
  const Entry* best = nullptr;
  const auto says_less = [](const Entry& a, const Entry& b) {
    return std::tie(a.severity, a.specificity, b.since, b.rank, b.id) <
           std::tie(b.severity, b.specificity, a.since, a.rank, a.id);
  };
  for (const Entry& entry : entries_) {
    if (entry.incident != incident) continue;
    if (best == nullptr || says_less(*best, entry)) best = &entry;
  }
  return *best;
}

std::string Incidents::ranks_of(const Entry& speaker) const {
  std::vector<std::int32_t> ranks;
  for (const Entry& entry : entries_) {
    const bool counts = entry.incident == speaker.incident && entry.rule == speaker.rule;
    if (counts && entry.rank != kNoRank) ranks.push_back(entry.rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks.size() < 2 ? std::string() : rank_ranges(ranks);
}

std::vector<Incidents::Change> Incidents::update(const Alert& alert, const RuleSpec& rule) {
  const auto known = std::ranges::find(entries_, alert.id, &Entry::id);
  if (known != entries_.end()) {
    known->severity = alert.severity;
    changed_.push_back(known->number);
  }
  const std::uint64_t incident =
      known != entries_.end() ? known->incident : enter(entry_of(alert, rule)).incident;
  const Entry& speaker = speaker_of(incident);
  const std::string id = speaker.id;
  const std::string ranks = ranks_of(speaker);
  std::vector<Change> changes;
  for (Entry& entry : entries_) {
    if (entry.incident != incident) continue;
    const std::string own_ranks = entry.id == id ? ranks : std::string();
    if (entry.speaker == id && entry.ranks == own_ranks) continue;
    entry.speaker = id;
    entry.ranks = own_ranks;
    changed_.push_back(entry.number);
    changes.push_back({entry.id, id, own_ranks});
  }
  return changes;
}

void Incidents::Entry::state(StateIo& io) {
  io(number);
  io(id);
  io(rule);
  io(job);
  io(subject);
  io(rank);
  io(since);
  io(opened);
  io(slack);
  io(step);
  io(specificity);
  io(of_one_cause);
  io(alone);
  io(cause);
  io(severity);
  io(incident);
  io(speaker);
  io(ranks);
  if (severity > Severity::critical) io.fail();
}

void Incidents::save(StateRows& rows, bool all) {
  const std::uint64_t first = next_number_ - entries_.size();
  for (; dropped_from_ < first; ++dropped_from_) {
    rows.remove(numbered_row(kIncidentRows, dropped_from_));
  }
  if (all) {
    changed_.clear();
    for (const Entry& entry : entries_) changed_.push_back(entry.number);
  }
  std::ranges::sort(changed_);
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const std::uint64_t number : changed_) {
    if (number < first) continue;
    Entry& entry = entries_[number - first];
    rows.put(numbered_row(kIncidentRows, number), [&entry](StateIo& io) { io(entry); });
  }
  changed_.clear();
}

bool Incidents::load(const SavedState& saved) {
  *this = {};
  return for_rows(saved, kIncidentRows, [&](std::string_view, std::string_view value) {
    StateIo io = saved.open(value);
    Entry entry;
    io(entry);
    const bool follows = entries_.empty() || entry.number == next_number_;
    if (!io.complete() || !follows || entries_.size() == kMost) return false;
    if (entries_.empty()) dropped_from_ = entry.number;
    next_number_ = entry.number + 1;
    entries_.push_back(std::move(entry));
    return true;
  });
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/incidents.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::string_view kIncidentRows = "incident/";

std::string text_of(const Subject& subject) {
  return subject.job + '\n' + writer_name(subject) + '\n' + std::to_string(subject.rank) + '\n' +
         subject.gpu;
}

// Whether these are the same step, or one follows the other.
bool is_next_to(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b) + 1 <= 2;
}

}  // namespace

Incidents::Entry Incidents::entry_of(const Alert& alert, const RuleSpec& rule) {
  Entry entry;
  entry.id = alert.id;
  entry.rule = alert.rule;
  entry.job = alert.subject.job;
  entry.subject = text_of(alert.subject);
  entry.rank = alert.subject.rank;
  const Verdict& verdict = alert.verdict;
  Time began = verdict.since == kNoTime ? alert.started_at : verdict.since;
  const bool has_window = verdict.window_end > verdict.window_start;
  if (rule.incident.of_one_step && has_window) began = std::min(began, verdict.window_start);
  entry.since = std::min(began, alert.started_at);
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
  const auto touch = [&a, &b](Nanos slack) {
    return a.since - slack <= b.opened && b.since - slack <= a.opened;
  };
  // Nearly all are of another time.
  const bool near = touch(std::max(a.slack, b.slack));
  const bool steps = a.step != kNoStep && b.step != kNoStep;
  if (!near && !(steps && is_next_to(a.step, b.step))) return false;
  if (a.job != b.job || a.alone || b.alone) return false;
  const bool same_rule = a.rule == b.rule;
  if (!same_rule && (a.specificity == 0 || b.specificity == 0)) return false;
  if (!same_rule && a.of_one_cause && b.of_one_cause && a.cause != b.cause) return false;
  const bool same_subject = a.subject == b.subject;
  if (same_rule && !same_subject && steps) return is_next_to(a.step, b.step);
  return same_rule && same_subject ? touch(Nanos{}) : near;
}

bool Incidents::speaks_for_others(const Entry& entry) const {
  return entry.speaker == entry.id && std::ranges::any_of(entries_, [&entry](const Entry& other) {
           return other.incident == entry.incident && other.number != entry.number;
         });
}

// In a job of thousands of ranks all may have an alert at once. If the one that speaks for them
// were forgotten, all others would have another speaker, again and again.
void Incidents::make_room() {
  if (entries_.size() < kMost) return;
  const auto oldest = std::ranges::find_if(
      entries_, [this](const Entry& entry) { return !speaks_for_others(entry); });
  forgotten_.push_back(oldest->number);
  numbers_.erase(oldest->id);
  entries_.erase(oldest);
}

bool Incidents::is_over(const Entry& entry, Time now) {
  return entry.ended != kNoTime && now - entry.ended > kOutlives;
}

Incidents::Entry* Incidents::find(const std::string& id) {
  const auto known = numbers_.find(id);
  if (known == numbers_.end()) return nullptr;
  return &*std::ranges::lower_bound(entries_, known->second, {}, &Entry::number);
}

Incidents::Entry& Incidents::enter(Entry entry) {
  make_room();
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
  numbers_[entry.id] = entry.number;
  return entries_.emplace_back(std::move(entry));
}

// Of those with the highest severity. Null: none is about a single step.
const Incidents::Entry* Incidents::first_about_a_step(std::uint64_t incident) const {
  const Entry* first = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.incident != incident || entry.step == kNoStep) continue;
    if (first == nullptr ||
        std::tuple(first->severity, entry.opened) < std::tuple(entry.severity, first->opened))
      first = &entry;
  }
  return first;
}

const Incidents::Entry& Incidents::speaker_of(std::uint64_t incident, Time now) const {
  const bool many = std::ranges::count(entries_, incident, &Entry::incident) > kFew;
  const Entry* const first = first_about_a_step(incident);
  const auto importance_of = [many, first](const Entry& entry) {
    const bool late =
        first != nullptr && entry.step != kNoStep && entry.opened - first->opened > kAtOnce;
    const bool knows = entry.cause != CauseName::unattributed;
    const bool stays = many && entry.speaker == entry.id;
    return std::tuple(entry.severity,
                      late ? std::min(entry.specificity, first->specificity) : entry.specificity,
                      knows, !late, stays);
  };
  const Entry* best = nullptr;
  const auto says_less = [&importance_of](const Entry& a, const Entry& b) {
    return std::tuple(importance_of(a), std::tie(b.since, b.rank, b.id)) <
           std::tuple(importance_of(b), std::tie(a.since, a.rank, a.id));
  };
  for (const Entry& entry : entries_) {
    if (entry.incident != incident || is_over(entry, now)) continue;
    if (best == nullptr || says_less(*best, entry)) best = &entry;
  }
  return *best;
}

// The ranks of the remembered alerts, and those that were reported before: their alerts may have
// been forgotten since.
RankRanges Incidents::ranks_of(const Entry& speaker) const {
  RankRanges ranks = speaker.ranks;
  for (const Entry& entry : entries_) {
    if (entry.incident != speaker.incident || entry.rule != speaker.rule) continue;
    if (!speaker.ranks.empty() && entry.speaker == speaker.id) continue;  // reported before
    if (entry.rank != kNoRank) ranks.add(entry.rank);
    const bool spoke = entry.number != speaker.number && !entry.ranks.empty();
    if (spoke) ranks.add(entry.ranks);
  }
  return ranks.count() < 2 ? RankRanges{} : ranks;
}

std::vector<Incidents::Change> Incidents::update(const Alert& alert, const RuleSpec& rule) {
  Entry* const known = find(alert.id);
  if (known != nullptr) {
    known->severity = alert.severity;
    known->ended = kNoTime;
    changed_.push_back(known->number);
  }
  const std::uint64_t incident =
      known != nullptr ? known->incident : enter(entry_of(alert, rule)).incident;
  const Time now = alert.updated_at;
  const Entry& speaker = speaker_of(incident, now);
  const std::string id = speaker.id;
  const RankRanges ranks = ranks_of(speaker);
  const RankRanges none;
  std::vector<Change> changes;
  for (Entry& entry : entries_) {
    if (entry.incident != incident || is_over(entry, now)) continue;
    const RankRanges& own_ranks = entry.id == id ? ranks : none;
    if (entry.speaker == id && entry.ranks == own_ranks) continue;
    entry.speaker = id;
    entry.ranks = own_ranks;
    changed_.push_back(entry.number);
    changes.push_back({entry.id, id, own_ranks.text()});
  }
  return changes;
}

void Incidents::ended(const Alert& alert) {
  Entry* const known = find(alert.id);
  if (known == nullptr) return;
  known->ended = alert.ended_at;
  changed_.push_back(known->number);
}

bool Incidents::outlived(const Alert& alert) {
  const Entry* const speaker = find(alert.incident);
  return speaker != nullptr && is_over(*speaker, alert.updated_at);
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
  io(ended);
  io(slack);
  io(step);
  io(specificity);
  io(of_one_cause);
  io(alone);
  io(cause);
  io(severity);
  io(incident);
  io(speaker);
  std::string listed = ranks.text();
  io(listed);
  if (io.is_loading()) {
    auto parsed = RankRanges::parse(listed);
    if (!parsed) return io.fail();
    ranks = std::move(*parsed);
  }
  if (severity > Severity::critical) io.fail();
}

void Incidents::save(StateRows& rows, bool all) {
  for (const std::uint64_t number : forgotten_) rows.remove(numbered_row(kIncidentRows, number));
  forgotten_.clear();
  std::ranges::sort(changed_);
  for (Entry& entry : entries_) {
    if (!all && !std::ranges::binary_search(changed_, entry.number)) continue;
    rows.put(numbered_row(kIncidentRows, entry.number), [&entry](StateIo& io) { io(entry); });
  }
  changed_.clear();
}

bool Incidents::load(const SavedState& saved) {
  *this = {};
  return for_rows(saved, kIncidentRows, [&](std::string_view, std::string_view value) {
    StateIo io = saved.open(value);
    Entry entry;
    io(entry);
    if (!io.complete() || entry.number < next_number_ || entries_.size() == kMost) return false;
    next_number_ = entry.number + 1;
    numbers_[entry.id] = entry.number;
    entries_.push_back(std::move(entry));
    return true;
  });
}

}  // namespace trainwatch

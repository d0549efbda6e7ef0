// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_book.h"

#include <algorithm>
#include <utility>

#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/cause_words.h"

namespace trainwatch {

AlertBook::Episode* AlertBook::find(const Source& source, std::string_view name) {
  if (episodes_.empty()) return nullptr;
  const auto entry = episodes_.find(KeyView{source.rule, source.subject, name});
  return entry == episodes_.end() ? nullptr : &entry->second;
}

bool AlertBook::fires(const Source& source, const Condition& condition) {
  if (source.lifecycle.one_at_a_time && !make_room(source, condition)) return false;
  Episode* episode = find(source, condition.key);
  if (episode == nullptr) {
    if (!condition.opens) return false;
    const Key key{source.rule, source.subject, std::string(condition.key)};
    episode = &episodes_[key];
  }
  episode->changed = true;
  return episode->hysteresis.fires(condition, source.lifecycle);
}

bool AlertBook::make_room(const Source& source, const Condition& condition) {
  bool free = true;
  each_of(source, [&](Episodes::iterator entry) {
    const auto& [key, episode] = *entry;
    if (key.name == condition.key || episode.hysteresis.firings() == 0) return;
    free = clear(source, entry, condition.at) && free;
  });
  return free;
}

const Alert& AlertBook::apply(const Source& source, Verdict verdict) {
  Episode& episode = *find(source, verdict.key);
  Alert& alert = episode.alert;
  const Time at = verdict.at;
  verdict.severity = episode.hysteresis.severity();
  const Nanos hold = source.config->hold;
  if (alert.id.empty()) {
    const RuleSpec& spec = *source.config->spec;
    const bool narrower = verdict.subject != SubjectId::none;
    const bool by_step = verdict.by_step && verdict.step != kNoStep;
    const Time moment = by_step ? Time{Nanos{verdict.step}} : at;
    alert.id = alert_id(spec, interner_.subjects[source.subject], verdict.key, moment);
    alert.rule = std::string(spec.id);
    alert.severity = verdict.severity;
    alert.reached = verdict.severity;
    alert.subject = interner_.subjects[narrower ? verdict.subject : source.subject];
    alert.attempt = verdict.attempt;
    alert.started_at = at;
    alert.updated_at = at;
    alert.verdict = std::move(verdict);
    by_id_.emplace(alert.id, &episode);
    ++waiting_;
    if (hold <= Nanos{}) open(source.rule, spec, episode);
    return alert;
  }

  if (episode.phase == Episode::Phase::recovering) {
    episode.phase = Episode::Phase::firing;
    --waiting_;
  }
  const bool other_severity = alert.severity != verdict.severity;
  const bool loud = other_severity || alert.verdict.cause.name != verdict.cause.name;
  alert.severity = verdict.severity;
  if (alert.severity > alert.reached) {
    alert.reached = alert.severity;
    if (const auto waits = settles_.find(alert.id); waits != settles_.end())
      waits->second = std::min(waits->second, settling(alert.severity));
    if (episode.phase != Episode::Phase::pending) count_reached(source.rule, alert);
  }
  alert.updated_at = std::max(alert.updated_at, at);  // evidence may be older than what it corrects
  if (!verdict.provisional && !alert.verdict.provisional) ++alert.count;
  alert.verdict = std::move(verdict);
  episode.dirty = true;
  if (episode.phase == Episode::Phase::pending) {
    if (at - alert.started_at >= hold) open(source.rule, *source.config->spec, episode);
  } else {
    const bool outlived = incidents_.outlived(alert);
    if (other_severity || outlived) assign(*source.config->spec, alert);
    if (loud || outlived) emit(episode);
  }
  return alert;
}

void AlertBook::refuse(const Source& source, std::string_view name) {
  ++refused_[source.rule];
  const auto entry = episodes_.find(KeyView{source.rule, source.subject, name});
  if (entry == episodes_.end() || !entry->second.alert.id.empty()) return;
  removed_.insert(entry->first);
  episodes_.erase(entry);
}

std::uint64_t AlertBook::refused(std::uint32_t rule) const {
  const auto found = refused_.find(rule);
  return found == refused_.end() ? 0 : found->second;
}

void AlertBook::holds(const Source& source, std::string_view name) {
  Episode* const episode = find(source, name);
  if (episode == nullptr) return;
  episode->hysteresis.holds();
  episode->changed = true;
}

void AlertBook::clear(const Source& source, std::string_view name, Time at) {
  if (episodes_.empty()) return;
  const auto entry = episodes_.find(KeyView{source.rule, source.subject, name});
  if (entry != episodes_.end()) clear(source, entry, at);
}

void AlertBook::clear_all(const Source& source, Time at) {
  each_of(source, [&](Episodes::iterator entry) { clear(source, entry, at); });
}

bool AlertBook::clear(const Source& source, Episodes::iterator entry, Time at) {
  Episode& episode = entry->second;
  if (episode.phase == Episode::Phase::recovering) return true;
  episode.changed = true;
  if (!episode.hysteresis.clear(source.lifecycle)) return false;
  if (episode.phase == Episode::Phase::firing && source.config->keep > Nanos{}) {
    episode.phase = Episode::Phase::recovering;
    episode.recovering_since = at;
    ++waiting_;
  } else {
    resolve(entry, at);
  }
  return true;
}

void AlertBook::end(const Source& source, Time at, EndedBecause why) {
  each_of(source, [&](Episodes::iterator entry) {
    resolve(entry, std::max(at, entry->second.alert.updated_at), why);
  });
}

void AlertBook::end_job(std::string_view job, std::span<const RuleConfig> rules, Time at,
                        EndedBecause why) {
  for (auto entry = episodes_.begin(); entry != episodes_.end();) {
    const auto current = entry++;
    const Alert& alert = current->second.alert;
    if (rules[current->first.rule].spec->incident.outlives_run) continue;
    if (alert.subject.job == job) resolve(current, std::max(at, alert.updated_at), why);
  }
}

std::uint64_t AlertBook::firings(const Source& source, std::string_view name) const {
  if (episodes_.empty()) return 0;
  const auto entry = episodes_.find(KeyView{source.rule, source.subject, name});
  return entry == episodes_.end() ? 0 : entry->second.hysteresis.firings();
}

void AlertBook::open(std::uint32_t rule, const RuleSpec& spec, Episode& episode) {
  episode.phase = Episode::Phase::firing;
  --waiting_;
  episode.alert.reached = episode.alert.severity;  // while it was pending nobody heard of it
  count_reached(rule, episode.alert);
  if (spec.incident.of_one_step) settles_[episode.alert.id] = settling(episode.alert.severity);
  assign(spec, episode.alert);
  emit(episode);
}

void AlertBook::resolve(Episodes::iterator entry, Time at, EndedBecause why) {
  Episode& episode = entry->second;
  if (episode.phase != Episode::Phase::firing) --waiting_;
  by_id_.erase(episode.alert.id);
  if (episode.phase != Episode::Phase::pending) {
    episode.alert.state = Alert::State::resolved;
    episode.alert.ended_at = at;
    episode.alert.ended_because = why;
    incidents_.ended(episode.alert);
    emit(episode);
    closed_.add(std::move(episode.alert));
  }
  removed_.insert(entry->first);
  episodes_.erase(entry);
}

void AlertBook::emit(Episode& episode) {
  episode.dirty = false;
  emit(episode.alert);
}

void AlertBook::emit(const Alert& alert) {
  emitted_.push_back(alert);
}

void AlertBook::assign(const RuleSpec& rule, Alert& alert) {
  for (Incidents::Change& change : incidents_.update(alert, rule)) {
    const auto take = [&](Alert& changed) {
      changed.ranks = change.ranks;
      return std::exchange(changed.incident, change.incident) != change.incident;
    };
    if (change.id == alert.id) {
      take(alert);
      continue;
    }
    if (const auto open = by_id_.find(change.id); open != by_id_.end()) {
      Episode& episode = *open->second;
      const bool loud = take(episode.alert);
      episode.changed = true;
      episode.dirty = true;
      if (loud) emit(episode);  // one more rank can wait for flush()
      continue;
    }
    closed_.change(change.id, [&](Alert& closed) {
      take(closed);
      emit(closed);
      return true;
    });
  }
}

void AlertBook::advance(const Source& source, Time now) {
  each_of(source, [&](Episodes::iterator entry) {
    Episode& episode = entry->second;
    if (episode.phase == Episode::Phase::pending &&
        now - episode.alert.started_at >= source.config->hold) {
      episode.changed = true;
      open(source.rule, *source.config->spec, episode);
    } else if (episode.phase == Episode::Phase::recovering &&
               now - episode.recovering_since >= source.config->keep) {
      resolve(entry, episode.recovering_since + source.config->keep);
    }
  });
}

void AlertBook::refine(const Key& key, const std::string& id, const Cause& cause) {
  const auto entry = episodes_.find(key);
  if (entry != episodes_.end() && entry->second.alert.id == id) {
    Episode& episode = entry->second;
    Verdict& known = episode.alert.verdict;
    if (known.cause == cause) return;
    const bool loud = known.cause.name != cause.name;
    set_cause(known, cause);
    episode.dirty = true;
    episode.changed = true;
    if (loud && episode.phase != Episode::Phase::pending) emit(episode);
    return;
  }
  closed_.change(id, [&](Alert& closed) {
    if (closed.verdict.cause == cause) return false;
    set_cause(closed.verdict, cause);
    emit(closed);
    return true;
  });
}

void AlertBook::flush() {
  for (auto& [key, episode] : episodes_) {
    if (!episode.dirty || episode.phase == Episode::Phase::pending) continue;
    episode.changed = true;
    emit(episode);
  }
  ++flushes_;
}

std::vector<Alert> AlertBook::take_emitted() {
  settles_.clear();
  note_published(emitted_);
  return std::exchange(emitted_, {});
}

void AlertBook::settle() {
  for (auto& waits : settles_) waits.second = 0;
}

bool AlertBook::has_settled(const std::string& id) const {
  const auto waits = settles_.find(id);
  return waits == settles_.end() || waits->second <= flushes_;
}

bool AlertBook::has_settled() const {
  return emitted_.size() > kMostHeld || std::ranges::any_of(emitted_, [this](const Alert& alert) {
           return has_settled(alert.id);
         });
}

std::vector<Alert> AlertBook::take_settled() {
  if (emitted_.size() > kMostHeld) return take_emitted();
  std::vector<Alert> settled;
  std::vector<Alert> waiting;
  for (Alert& alert : emitted_) {
    if (!has_settled(alert.id)) {
      waiting.push_back(std::move(alert));
    } else if (settles_.contains(alert.id)) {
      put_latest(settled, std::move(alert));
    } else {
      settled.push_back(std::move(alert));
    }
  }
  emitted_ = std::move(waiting);
  std::erase_if(settles_, [this](const auto& waits) { return waits.second <= flushes_; });
  note_published(settled);
  return settled;
}

// In place of what was emitted of it in the same state; whatever its state, it is of one incident.
void AlertBook::put_latest(std::vector<Alert>& alerts, Alert alert) {
  Alert* same = nullptr;
  for (Alert& before : alerts) {
    if (before.id != alert.id) continue;
    before.incident = alert.incident;
    before.ranks = alert.ranks;
    if (before.state == alert.state) same = &before;
  }
  if (same == nullptr) {
    alerts.push_back(std::move(alert));
  } else {
    *same = std::move(alert);
  }
}

void AlertBook::note_published(std::vector<Alert>& alerts) {
  std::set<std::string_view> spoke;
  for (Alert& alert : alerts) {
    if (alert.spoke) continue;
    alert.spoke = alert.incident == alert.id || spoke.contains(alert.id);
    if (!alert.spoke || !spoke.insert(alert.id).second) continue;
    if (const auto open = by_id_.find(alert.id); open != by_id_.end()) {
      open->second->alert.spoke = true;
      open->second->changed = true;
    } else {
      closed_.change(alert.id, [](Alert& closed) { return !std::exchange(closed.spoke, true); });
    }
  }
}

std::size_t AlertBook::firing() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(episodes_, [](const auto& entry) { return entry.second.fires(); }));
}

std::size_t AlertBook::firing(std::uint32_t rule) const {
  const auto first = episodes_.lower_bound(KeyView{rule, SubjectId{}, ""});
  const auto last = episodes_.lower_bound(KeyView{rule + 1, SubjectId{}, ""});
  return static_cast<std::size_t>(
      std::count_if(first, last, [](const auto& entry) { return entry.second.fires(); }));
}

AlertBook::Reached AlertBook::reached(std::uint32_t rule, Severity severity) const {
  const auto found = reached_.find({rule, severity});
  return found == reached_.end() ? Reached{} : found->second;
}

void AlertBook::count_reached(std::uint32_t rule, const Alert& alert) {
  Reached& reached = reached_[{rule, alert.severity}];
  ++reached.total;
  reached.latest = alert.id;
  reached.at = alert.verdict.at;
}

}  // namespace trainwatch

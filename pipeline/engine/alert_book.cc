#include "pipeline/engine/alert_book.h"

#include <algorithm>
#include <utility>

#include "pipeline/engine/alert_id.h"

namespace trainwatch {

const Alert* AlertBook::apply(std::uint32_t rule, const RuleSpec& spec, Timing timing,
                              SubjectId subject, Verdict verdict) {
  const Key key{rule, subject, verdict.key};
  auto entry = episodes_.find(key);
  const Time at = verdict.at;
  if (verdict.state == Verdict::State::ok && entry == episodes_.end()) return nullptr;
  changed_.insert(key);
  if (verdict.state == Verdict::State::ok) {
    Episode& episode = entry->second;
    if (episode.phase == Episode::Phase::firing && timing.keep > Nanos{}) {
      episode.phase = Episode::Phase::recovering;
      episode.recovering_since = at;
      ++waiting_;
    } else if (episode.phase != Episode::Phase::recovering) {
      resolve(entry, at);
    }
    return nullptr;
  }

  if (entry == episodes_.end()) {
    entry = episodes_.emplace(key, Episode{}).first;
    Alert& alert = entry->second.alert;
    alert.id = alert_id(spec, vocabulary_.subjects[subject], verdict.key, at);
    alert.rule = std::string(spec.id);
    alert.severity = verdict.severity;
    alert.subject =
        vocabulary_.subjects[verdict.subject == SubjectId::none ? subject : verdict.subject];
    alert.started_at = at;
    alert.updated_at = at;
    alert.verdict = std::move(verdict);
    ++waiting_;
    if (timing.hold <= Nanos{}) open(key, entry->second);
    return &entry->second.alert;
  }

  Episode& episode = entry->second;
  if (episode.phase == Episode::Phase::recovering) {
    episode.phase = Episode::Phase::firing;
    --waiting_;
  }
  Alert& alert = episode.alert;
  const bool loud =
      alert.severity != verdict.severity || alert.verdict.cause.name != verdict.cause.name;
  alert.severity = verdict.severity;
  alert.updated_at = at;
  ++alert.count;
  alert.verdict = std::move(verdict);
  episode.dirty = true;
  if (episode.phase == Episode::Phase::pending) {
    if (at - alert.started_at >= timing.hold) open(key, episode);
  } else if (loud) {
    tell(episode);
  }
  return &episode.alert;
}

void AlertBook::open(const Key& key, Episode& episode) {
  episode.phase = Episode::Phase::firing;
  --waiting_;
  ++opened_[{key.rule, episode.alert.severity}];
  tell(episode);
}

void AlertBook::resolve(std::map<Key, Episode>::iterator entry, Time at) {
  Episode& episode = entry->second;
  if (episode.phase != Episode::Phase::firing) --waiting_;
  if (episode.phase != Episode::Phase::pending) {
    episode.alert.state = Alert::State::resolved;
    episode.alert.ended_at = at;
    tell(episode);
    changed_closed_.insert(closed_total_);
    closed_.push_back({closed_total_++, std::move(episode.alert)});
    if (closed_.size() > kClosedKept) {
      changed_closed_.insert(closed_.front().number);
      closed_.pop_front();
    }
  }
  changed_.insert(entry->first);
  episodes_.erase(entry);
}

void AlertBook::tell(Episode& episode) {
  episode.dirty = false;
  told_.push_back(episode.alert);
}

void AlertBook::advance(std::uint32_t rule, SubjectId subject, Timing timing, Time now) {
  for (auto entry = episodes_.lower_bound(Key{rule, subject, ""}); entry != episodes_.end();) {
    const auto current = entry++;
    const auto& [key, episode] = *current;
    if (key.rule != rule || key.subject != subject) break;
    if (episode.phase == Episode::Phase::pending && now - episode.alert.started_at >= timing.hold) {
      changed_.insert(key);
      open(key, current->second);
    } else if (episode.phase == Episode::Phase::recovering &&
               now - episode.recovering_since >= timing.keep) {
      resolve(current, episode.recovering_since + timing.keep);
    }
  }
}

void AlertBook::refine(const Key& key, const std::string& id, const Cause& cause) {
  const auto entry = episodes_.find(key);
  if (entry != episodes_.end() && entry->second.alert.id == id) {
    Episode& episode = entry->second;
    Cause& known = episode.alert.verdict.cause;
    if (known == cause) return;
    const bool loud = known.name != cause.name;
    known = cause;
    episode.dirty = true;
    changed_.insert(key);
    if (loud && episode.phase != Episode::Phase::pending) tell(episode);
    return;
  }
  for (auto& [number, alert] : closed_) {
    if (alert.id != id || alert.verdict.cause == cause) continue;
    changed_closed_.insert(number);
    alert.verdict.cause = cause;
    told_.push_back(alert);
  }
}

void AlertBook::flush() {
  for (auto& [key, episode] : episodes_) {
    if (!episode.dirty || episode.phase == Episode::Phase::pending) continue;
    changed_.insert(key);
    tell(episode);
  }
}

std::vector<Alert> AlertBook::take_told() {
  return std::exchange(told_, {});
}

std::vector<Alert> AlertBook::active() const {
  std::vector<Alert> alerts;
  for (const auto& [key, episode] : episodes_) {
    if (episode.phase != Episode::Phase::pending) alerts.push_back(episode.alert);
  }
  std::stable_sort(alerts.begin(), alerts.end(),
                   [](const Alert& a, const Alert& b) { return a.started_at < b.started_at; });
  return alerts;
}

std::size_t AlertBook::active_count(std::uint32_t rule, Severity severity) const {
  std::size_t count = 0;
  for (auto entry = episodes_.lower_bound(Key{rule, SubjectId::none, ""});
       entry != episodes_.end() && entry->first.rule == rule; ++entry) {
    const Episode& episode = entry->second;
    if (episode.phase != Episode::Phase::pending && episode.alert.severity == severity) ++count;
  }
  return count;
}

std::uint64_t AlertBook::opened_total(std::uint32_t rule, Severity severity) const {
  const auto found = opened_.find({rule, severity});
  return found == opened_.end() ? 0 : found->second;
}

}  // namespace trainwatch

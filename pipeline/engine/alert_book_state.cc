// SPDX-License-Identifier: Apache-2.0
// The saved form of the alert book: a row per open alert; of those that ended, see ClosedAlerts.
#include <algorithm>
#include <string>

#include "pipeline/engine/alert_book.h"

namespace trainwatch {
namespace {

constexpr std::string_view kEpisode = "episode/";
constexpr std::string_view kCounts = "alerts";
constexpr std::string_view kRefused = "refused_verdicts";
constexpr std::string_view kHeld = "held_alerts";

std::string episode_key(std::string_view rule, SubjectId subject, std::string_view name) {
  const std::string prefix = std::string(kEpisode).append(rule).append("/");
  return id_row(prefix, subject).append("/").append(name);
}

}  // namespace

void AlertBook::Episode::state(StateIo& io) {
  io(phase);
  io(recovering_since);
  io(dirty);
  io(hysteresis);
  io(alert);
  if (phase > Phase::recovering) io.fail();
}

void AlertBook::save(StateRows& rows, std::span<const RuleConfig> rules, bool all) {
  for (const Key& key : removed_) {
    if (key.rule < rules.size()) {
      rows.remove(episode_key(rules[key.rule].spec->id, key.subject, key.name));
    }
  }
  removed_.clear();
  for (auto& [key, episode] : episodes_) {
    if (key.rule >= rules.size() || (!all && !episode.changed)) continue;
    episode.changed = false;
    rows.put(episode_key(rules[key.rule].spec->id, key.subject, key.name),
             [&key = key, &episode = episode](StateIo& io) {
               SubjectId subject = key.subject;
               std::string name = key.name;
               io(subject);
               io(name);
               io(episode);
             });
  }
  closed_.save(rows, all);
  incidents_.save(rows, all);
  rows.put(std::string(kHeld), [this](StateIo& io) { held_state(io); });
  rows.put(std::string(kRefused), [&](StateIo& io) {
    auto count = static_cast<std::uint32_t>(refused_.size());
    io(count);
    for (auto& [number, refused] : refused_) {
      std::string rule(rules[number].spec->id);
      io(rule);
      io(refused);
    }
  });
  rows.put(std::string(kCounts), [&](StateIo& io) {
    auto count = static_cast<std::uint32_t>(reached_.size());
    io(count);
    for (auto& [key, reached] : reached_) {
      std::string rule(rules[key.first].spec->id);
      Severity severity = key.second;
      io(rule);
      io(severity);
      io(reached);
    }
  });
}

// Those that wait to settle wait anew.
void AlertBook::held_state(StateIo& io) {
  auto count = static_cast<std::uint32_t>(emitted_.size());
  io(count);
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    if (io.is_loading()) emitted_.emplace_back();
    Alert& alert = emitted_[i];
    bool settles = settles_.contains(alert.id);
    alert.persist(io);
    io(settles);
    io.take_gone();  // a rank that it names
    if (io.is_loading() && settles) settles_[alert.id] = settling(alert.severity);
  }
}

bool AlertBook::load(const SavedState& saved, std::span<const RuleConfig> rules,
                     const std::vector<bool>& kept, Time at) {
  episodes_.clear();
  by_id_.clear();
  reached_.clear();
  waiting_ = 0;
  emitted_.clear();
  settles_.clear();
  const bool held = load_row(saved, kHeld, [this](StateIo& io) { held_state(io); });
  const bool counted = load_row(saved, kCounts, [&](StateIo& io) {
    std::uint32_t count = 0;
    io(count);
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      std::string id;
      Severity severity{};
      Reached reached;
      io(id);
      io(severity);
      io(reached);
      const std::size_t rule = rule_number(rules, id);
      if (rule < rules.size() && kept[rule]) {
        reached_[{static_cast<std::uint32_t>(rule), severity}] = std::move(reached);
      }
    }
  });
  refused_.clear();
  const bool refusals = load_row(saved, kRefused, [&](StateIo& io) {
    std::uint32_t count = 0;
    io(count);
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      std::string id;
      std::uint64_t refused = 0;
      io(id);
      io(refused);
      const std::size_t rule = rule_number(rules, id);
      if (rule < rules.size()) refused_[static_cast<std::uint32_t>(rule)] = refused;
    }
  });
  const auto load_episode = [&](std::string_view key, std::string_view value) {
    const std::size_t rule = rule_number(rules, key.substr(0, key.find('/')));
    StateIo io = saved.open(value);
    Key own{static_cast<std::uint32_t>(rule), SubjectId::none, ""};
    Episode episode;
    io(own.subject);
    const bool gone = io.take_gone();
    io(own.name);
    io(episode);
    io.take_gone();  // a rank that it names
    if (!io.complete()) return false;
    if (gone) {
      end(episode, at, EndedBecause::run_gone);
    } else if (rule < rules.size() && kept[rule]) {
      if (episode.phase != Episode::Phase::firing) ++waiting_;
      Episode& loaded = episodes_.emplace(own, std::move(episode)).first->second;
      if (!loaded.alert.id.empty()) by_id_.emplace(loaded.alert.id, &loaded);
    } else {
      end(episode, at, EndedBecause::reconfigured);
    }
    return true;
  };
  return counted && refusals && held && incidents_.load(saved) && closed_.load(saved) &&
         for_rows(saved, kEpisode, load_episode);
}

// Of an episode that is not kept.
void AlertBook::end(Episode& episode, Time at, EndedBecause why) {
  if (episode.phase == Episode::Phase::pending) return;
  episode.alert.state = Alert::State::resolved;
  episode.alert.ended_at = std::max(at, episode.alert.updated_at);
  episode.alert.ended_because = why;
  emit(episode);
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Owns all alerts. Rules report conditions; the book opens, updates and resolves alerts, keeps one
// episode per (rule, subject, key) however often the condition is seen, and decides what is worth
// emitting.
//
//   pending --(`hold` passed)--> firing --(clear)--> recovering --(`keep` passed)--> resolved
//
// The rule's Lifecycle says what is worth an update and how many clear evaluations end an alert,
// counted in evaluations; `hold` and `keep` are event time. An episode is emitted at once when it
// opens, resolves, or changes severity or cause; other changes wait for flush(), so that a storm
// costs one update a second, and the final content is always emitted.
//
// What is emitted of an alert about a single step that has just opened waits until it has settled
// which alert of its incident speaks, as other ranks and rules see the same step: for kSettling
// calls of flush(), for the next one if it is critical.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/engine/closed_alerts.h"
#include "pipeline/engine/hysteresis.h"
#include "pipeline/engine/incidents.h"
#include "trainwatch/alert.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class AlertBook {
 public:
  static constexpr std::uint64_t kSettling = 2;
  // With more than this nothing waits.
  static constexpr std::size_t kMostHeld = 1024;

  // An instance of a rule.
  struct Source {
    std::uint32_t rule = 0;               // index into the engine's rules
    SubjectId subject = SubjectId::none;  // the subject of the instance
    const RuleConfig* config = nullptr;   // not null
    Lifecycle lifecycle{};
  };
  struct Key {
    std::uint32_t rule = 0;
    SubjectId subject = SubjectId::none;
    std::string name;  // Condition::key
  };

  explicit AlertBook(const Interner& interner) : interner_(interner) {}
  AlertBook(const AlertBook&) = delete;
  AlertBook& operator=(const AlertBook&) = delete;

  // An evaluation that found the condition. True: describe it, and call apply() next.
  bool fires(const Source& source, const Condition& condition);
  // The alert of the verdict, valid until the next call.
  const Alert& apply(const Source& source, Verdict verdict);
  // Instead: its figures do not bear it out (verdict_check.h). An alert that is open stays as it
  // is.
  void refuse(const Source& source, std::string_view name);
  std::uint64_t refused(std::uint32_t rule) const;
  // See Verdicts.
  void holds(const Source& source, std::string_view name);
  void clear(const Source& source, std::string_view name, Time at);
  void clear_all(const Source& source, Time at);
  // Whatever the lifecycle says: the alerts of the instance are over.
  void end(const Source& source, Time at, EndedBecause why);
  // The same for all alerts of a job, those of its nodes and ranks included, but for those that
  // are about its end.
  void end_job(std::string_view job, std::span<const RuleConfig> rules, Time at, EndedBecause why);
  std::uint64_t firings(const Source& source, std::string_view name) const;

  // The event time of this instance has reached `now`: promotes or resolves what waited for it.
  void advance(const Source& source, Time now);
  // True if advance() has something to wait for.
  bool waiting() const { return waiting_ > 0; }

  // Replaces the cause of an open or recently resolved alert, if it differs.
  void refine(const Key& key, const std::string& id, const Cause& cause);

  // Emits all changes that were held back.
  void flush();

  // All alerts emitted since the last call, in order.
  std::vector<Alert> take_emitted();
  // Only those that have settled. An alert that had to wait comes at most twice, firing and
  // resolved, each with its latest content.
  std::vector<Alert> take_settled();
  bool has_settled() const;
  // Nothing waits any longer: the input or the process ends.
  void settle();

  // Calls visit(rule, alert) for each that fires.
  template <class Visit>
  void each_firing(Visit&& visit) const {
    for (const auto& [key, episode] : episodes_) {
      if (episode.fires()) visit(key.rule, episode.alert);
    }
  }
  // Calls visit(alert) for those that ended not long ago, oldest first.
  template <class Visit>
  void each_closed(Visit&& visit) const {
    closed_.each(visit);
  }
  std::size_t firing() const;  // how many do
  std::size_t firing(std::uint32_t rule) const;
  // How many alerts of a rule opened with a severity, or rose to it.
  struct Reached {
    std::uint64_t total = 0;
    std::string latest;  // its id
    Time at = kNoTime;   // when the latest did

    void state(StateIo& io) {
      io(total);
      io(latest);
      io(at);
      if (!is_possible(at)) io.fail();
    }
  };
  Reached reached(std::uint32_t rule, Severity severity) const;

  // Puts the alerts that changed since the last call; `all`: every one. Rows name rules by id.
  void save(StateRows& rows, std::span<const RuleConfig> rules, bool all);
  // Replaces everything. `kept` says for each of `rules` whether it is the saved rule; open alerts
  // of others resolve at `at`. False: the rows are damaged.
  bool load(const SavedState& saved, std::span<const RuleConfig> rules,
            const std::vector<bool>& kept, Time at);

 private:
  struct Episode {
    enum class Phase : std::uint8_t { pending, firing, recovering };
    Phase phase = Phase::pending;
    Time recovering_since{};
    bool dirty = false;  // has content that was not emitted yet
    Hysteresis hysteresis;
    Alert alert;
    bool changed = true;  // since the last save
    bool fires() const { return phase != Phase::pending; }
    void state(StateIo& io);
  };
  struct KeyView {
    std::uint32_t rule = 0;
    SubjectId subject = SubjectId::none;
    std::string_view name;
  };
  struct Less {
    using is_transparent = void;
    static auto parts(const auto& key) {
      return std::tuple(key.rule, key.subject, std::string_view(key.name));
    }
    bool operator()(const auto& a, const auto& b) const { return parts(a) < parts(b); }
  };
  using Episodes = std::map<Key, Episode, Less>;

  Episode* find(const Source& source, std::string_view name);
  // Calls visit(iterator) for each episode of the instance; visit() may erase that one.
  template <class Visit>
  void each_of(const Source& source, Visit&& visit) {
    if (episodes_.empty()) return;
    auto entry = episodes_.lower_bound(KeyView{source.rule, source.subject, ""});
    while (entry != episodes_.end()) {
      const auto current = entry++;
      if (current->first.rule != source.rule || current->first.subject != source.subject) return;
      visit(current);
    }
  }
  // Ends what excludes `name`. False: something else of this source is still open.
  bool make_room(const Source& source, const Condition& condition);
  // True if it ended the episode.
  bool clear(const Source& source, Episodes::iterator entry, Time at);
  void end(Episode& episode, Time at, EndedBecause why);
  void open(std::uint32_t rule, const RuleSpec& spec, Episode& episode);
  void resolve(Episodes::iterator entry, Time at, EndedBecause why = EndedBecause::recovered);
  // The alert has its severity, which it did not have before.
  void count_reached(std::uint32_t rule, const Alert& alert);
  void emit(Episode& episode);
  void emit(const Alert& alert);
  // When an alert of this severity that opens, or rises to it, now does.
  std::uint64_t settling(Severity severity) const {
    return flushes_ + (severity == Severity::critical ? 1 : kSettling);
  }
  bool has_settled(const std::string& id) const;
  void held_state(StateIo& io);
  static void put_latest(std::vector<Alert>& alerts, Alert alert);
  // They leave: which of them spoke is remembered.
  void note_published(std::vector<Alert>& alerts);
  // Says which incident the alert belongs to, and emits others for which that has changed.
  void assign(const RuleSpec& rule, Alert& alert);

  const Interner& interner_;
  Episodes episodes_;
  std::unordered_map<std::string_view, Episode*> by_id_;  // episodes that have an alert
  Incidents incidents_;
  ClosedAlerts closed_;
  std::vector<Alert> emitted_;
  std::uint64_t flushes_ = 0;
  std::unordered_map<std::string, std::uint64_t> settles_;  // by alert: when flushes_ is this
  std::size_t waiting_ = 0;                                 // pending or recovering episodes
  std::map<std::pair<std::uint32_t, Severity>, Reached> reached_;
  std::map<std::uint32_t, std::uint64_t> refused_;  // verdicts, by rule
  std::set<Key, Less> removed_;                     // since the last save
};

}  // namespace trainwatch

// The one owner of alerts. Rules give verdicts; the book opens, updates and resolves alerts, keeps
// one episode per (rule, subject, key) however often the condition is seen, and decides what is
// worth telling.
//
//   pending --(`hold` passed)--> firing --(ok, then `keep` passed)--> resolved
//
// `hold` and `keep` are event time. An episode is told at once when it opens, resolves, or changes
// severity or cause; other changes of content wait for flush(), so that a storm costs one update a
// second, and the last content is always told in the end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class AlertBook {
 public:
  struct Key {
    std::uint32_t rule = 0;               // index into the engine's rules
    SubjectId subject = SubjectId::none;  // of the rule's instance
    std::string name;                     // Verdict::key
    auto operator<=>(const Key&) const = default;
  };

  explicit AlertBook(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Takes a verdict of rule number `rule`. `timing` is that rule's hold and keep.
  struct Timing {
    Nanos hold{};
    Nanos keep{};
  };
  // Returns the alert it belongs to, valid until the next call; null when there is none.
  const Alert* apply(std::uint32_t rule, const RuleSpec& spec, Timing timing, SubjectId subject,
                     Verdict verdict);

  // Event time of this instance has reached `now`: promotes or resolves what was waiting for it.
  void advance(std::uint32_t rule, SubjectId subject, Timing timing, Time now);
  // True when advance() has something to wait for.
  bool waiting() const { return waiting_ > 0; }

  // Replaces the cause of an open or recently resolved alert, when it differs.
  void refine(const Key& key, const std::string& id, const Cause& cause);

  // Tells every change that was held back.
  void flush();

  // What was told since the last call, in order.
  std::vector<Alert> take_told();
  bool has_told() const { return !told_.empty(); }

  std::vector<Alert> active() const;  // firing, oldest first
  std::size_t active_count(std::uint32_t rule, Severity severity) const;
  std::uint64_t opened_total(std::uint32_t rule, Severity severity) const;

  // Puts the alerts that changed since the last call; `all`: every one. Rows name rules by their
  // id.
  void save(StateRows& rows, std::span<const RuleConfig> rules, bool all);
  // Replaces everything. `kept` has, for each of `rules`, whether it is the rule that was saved;
  // open alerts of others resolve at `at`. False: the rows are damaged.
  bool load(const StoredRows& rows, std::span<const RuleConfig> rules,
            const std::vector<bool>& kept, Time at);

 private:
  static constexpr std::size_t kClosedKept = 1024;

  struct Episode {
    enum class Phase : std::uint8_t { pending, firing, recovering };
    Phase phase = Phase::pending;
    Time recovering_since{};
    bool dirty = false;
    Alert alert;
    void state(StateIo& io);
  };
  struct Closed {
    std::uint64_t number = 0;  // counts up
    Alert alert;
  };

  void restore(const Key& key, Episode episode, bool kept, Time at);
  void open(const Key& key, Episode& episode);
  void resolve(std::map<Key, Episode>::iterator entry, Time at);
  void tell(Episode& episode);

  const Vocabulary& vocabulary_;
  std::map<Key, Episode> episodes_;
  std::deque<Closed> closed_;  // lately resolved; their cause may still be refined
  std::vector<Alert> told_;
  std::size_t waiting_ = 0;  // pending or recovering episodes
  std::map<std::pair<std::uint32_t, Severity>, std::uint64_t> opened_;
  std::uint64_t closed_total_ = 0;
  // Since the last save.
  std::set<Key> changed_;
  std::set<std::uint64_t> changed_closed_;
};

}  // namespace trainwatch

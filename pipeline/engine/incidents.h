// SPDX-License-Identifier: Apache-2.0
// Which alerts are about one thing. A stall on one rank delays every rank, raises step_spike,
// getnext_outlier and input_bound, and empties the GPU: that is one incident, and the alert that
// says most speaks for it. The others are its parts.
//
// Two alerts of one job belong together if what they are about began at about the same time: the
// intervals from there to their opening, widened by the slack of their rules, touch; and their
// rules are about lost time (specificity > 0), and of the same cause where they measure one, or the
// rules are the same. Alerts of a rule about single steps belong together across ranks in the same
// step, or the next one. Alerts of one rule about one subject are apart on purpose, and belong
// together only if one began within the other. What belongs together is closed transitively, and
// depends on how alerts opened, not on the order in which files were read.
//
// The speaker has the highest severity; among these the most specific rule; among these it knows
// the cause; among these it is the earliest. Of alerts about single steps one that opened later
// than kAtOnce after the first is no more specific than that: a blip keeps its id. An incident of
// many alerts keeps its speaker unless another is more severe or says more: the others would all
// change with it. If a part is updated more than kOutlives after its speaker has ended, the parts
// that still fire become an incident of their own; otherwise nobody would see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/rank_ranges.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class Incidents {
 public:
  // At most this many alerts are remembered: the newest, and those that speak for others. What was
  // forgotten keeps its speaker, and its rank stays among the speaker's.
  static constexpr std::size_t kMost = 512;
  // An incident of more alerts than this keeps its speaker among equals.
  static constexpr std::ptrdiff_t kFew = 64;
  static constexpr Nanos kAtOnce = std::chrono::seconds(1);
  static constexpr Nanos kOutlives = std::chrono::seconds(30);

  struct Change {
    std::string id;        // of an alert
    std::string incident;  // of the one that speaks for it now
    std::string ranks;     // of the speaker: those concerned, if there are several: "0-3,7"
  };

  // The alert has opened, changed its severity, or outlived() its speaker. Returns what has changed
  // for it and for others.
  std::vector<Change> update(const Alert& alert, const RuleSpec& rule);
  // The alert has ended.
  void ended(const Alert& alert);
  // Whether this alert was updated more than kOutlives after its speaker ended.
  bool outlived(const Alert& alert);

  // Puts the alerts that changed since the last call, a row each; `all`: every one.
  void save(StateRows& rows, bool all);
  // Replaces all. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  struct Entry {
    // What each further alert is compared with, side by side:
    std::uint64_t number = 0;    // in the order in which they opened
    std::uint64_t incident = 0;  // the number of one of its alerts
    Time since{};
    Time opened{};
    Time ended = kNoTime;
    Nanos slack{};
    std::int64_t step = kNoStep;  // of a rule about one step
    bool alone = false;
    bool of_one_cause = false;
    Severity severity = Severity::info;
    std::int32_t rank = kNoRank;
    std::int32_t specificity = 0;
    CauseName cause = CauseName::unattributed;  // as the rule itself has it: what the engine finds
                                                // depends on what was read by then
    std::string id;
    std::string rule;
    std::string job;
    std::string subject;  // all of it, as text
    std::string speaker;  // as last reported
    RankRanges ranks;     // as last reported; empty unless it speaks for several

    void state(StateIo& io);
  };

  static Entry entry_of(const Alert& alert, const RuleSpec& rule);
  static bool belong_together(const Entry& a, const Entry& b);
  // It ended more than kOutlives before `now`.
  static bool is_over(const Entry& entry, Time now);
  Entry* find(const std::string& id);  // null: it is not remembered
  Entry& enter(Entry entry);
  bool speaks_for_others(const Entry& entry) const;
  void make_room();
  const Entry* first_about_a_step(std::uint64_t incident) const;
  // The speaker among those that are not over; there must be one.
  const Entry& speaker_of(std::uint64_t incident, Time now) const;
  RankRanges ranks_of(const Entry& speaker) const;

  std::deque<Entry> entries_;                               // in the order in which they opened
  std::unordered_map<std::string, std::uint64_t> numbers_;  // of the entries, by alert
  std::uint64_t next_number_ = 1;
  // Numbers, since they were last saved:
  std::vector<std::uint64_t> changed_;
  std::vector<std::uint64_t> forgotten_;
};

}  // namespace trainwatch

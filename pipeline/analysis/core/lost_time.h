// SPDX-License-Identifier: Apache-2.0
// The account of lost time: how many seconds of its training each rank has lost, by cause. What is
// lost adds up to at most the time that passed.
//
// Of timelines, an iteration loses its wait for input, and what it takes beyond the usual time if
// it is beyond the learned tail, or if the usual time has changed for the worse. Both are explained
// together with their surroundings, about ten seconds at once, when the samples of the node have
// been read so far or will not come. A record of a log is one iteration, times those that it stands
// for. Of a rank without a timeline, the steps of profiler cycles
// lose the time in which the GPU computes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/attribution.h"
#include "pipeline/analysis/core/lost_stretch.h"
#include "trainwatch/changed_entries.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

// What a rank lost in some iterations, and why.
struct LostInterval {
  SubjectId rank = SubjectId::none;
  Origin origin = Origin::timeline;
  Time start{};      // when the first of them began,
  Time first_end{};  // and ended,
  Time end{};        // and the last ended
  CauseName cause = CauseName::unattributed;
  double seconds = 0;
};

class LostTime {
 public:
  static constexpr std::size_t kMaxRanks = 1000;
  static constexpr std::size_t kCauses = static_cast<std::size_t>(CauseName::collective_hang) + 1;

  struct Account {
    double elapsed = 0;  // seconds of training
    std::array<double, kCauses> lost{};

    double of(CauseName cause) const { return lost[static_cast<std::size_t>(cause)]; }
    double total() const;
    Account& operator+=(const Account& other);
    Account& operator/=(double divisor);
    void add(CauseName cause, double seconds) { lost[static_cast<std::size_t>(cause)] += seconds; }
  };

  LostTime(const Interner& interner, const Attribution& attribution)
      : interner_(interner), attribution_(attribution) {}

  // A step with all its waits. Those of a rank and mode come in order.
  void on(const Step& step);
  void on(const CycleSummary& cycle);
  // Explains what can be explained by now; `all`: everything.
  void settle(Time latest, bool all);

  // What was added to the accounts since the last call, up to kMostExplained.
  std::vector<LostInterval> take_explained() { return std::exchange(explained_, {}); }

  // What the accounts do not have yet, with the causes that are known by now.
  struct Outstanding {
    std::vector<LostInterval> lost;
    SubjectMap<Account> accounts;
  };
  // What waits to be explained.
  Outstanding outstanding() const;
  // Adds steps of one rank that on() has not had: those whose waits may still be read.
  void add(std::span<const Step> steps, Outstanding& to) const;

  // Empty: nothing is known of the rank.
  std::optional<Account> account(SubjectId rank, const Outstanding& with) const;
  // Appends the families of what was lost and of the time of which it is a part.
  void collect(std::vector<MetricFamily>& out) const;

  // Puts what changed since the last call, a row for each rank; `all`: everything.
  void save(StateRows& rows, bool all);
  // Only for a new one. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  static constexpr std::size_t kMaxPending = 1024;
  static constexpr std::size_t kMostExplained = 65'536;

  struct Rank {
    Account timeline;  // or log
    Account cycles;
    LostStretches iterations;
    bool changed = false;  // since it was last saved

    const Account& account() const { return timeline.elapsed > 0 ? timeline : cycles; }
    void state(StateIo& io);
  };

  static bool counts(const Step& step);
  Rank* rank_of(SubjectId subject);
  void put_off(const LostStretch& stretch);
  void explain(const LostStretch& stretch);
  template <class Lose>
  void explain(const LostStretch& stretch, Lose&& lose) const;
  CauseName cause_of(const LostStretch& stretch, double lost, CauseName own) const;
  void foresee(const LostStretch& stretch, Outstanding& to) const;
  void lose(Account& account, const LostInterval& interval);
  void pending_state(StateIo& io);

  const Interner& interner_;
  const Attribution& attribution_;
  SubjectMap<Rank> ranks_;
  std::deque<LostStretch> pending_;  // the oldest first
  std::vector<LostStretch> ended_;   // by one step; keeps its memory
  std::vector<LostInterval> explained_;
  ChangedEntries<SubjectMap<Rank>> changed_;
  bool pending_changed_ = false;
};

}  // namespace trainwatch

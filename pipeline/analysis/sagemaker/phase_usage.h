// SPDX-License-Identifier: Apache-2.0
// How much of each type of resource a node uses in each training phase. The phases are those of the
// job's lowest rank: one table for the job, as SageMaker has it.
//
// Samples and steps may be read in any order. A sample waits until a later step is known and its
// node's samples are kLateness further; what waits is counted as well as is known. A node lets at
// most kWaiting samples wait, fewer where there are many nodes: beyond, they are taken to lie after
// the newest step and before the next one, and left out and counted should that one begin among
// them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "pipeline/analysis/sagemaker/waiting_samples.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/event.h"
#include "trainwatch/insert_sorted.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {

// Which training phase a time lies in, by the last kSteps steps of one rank: within a step, between
// two, before the first or after the last. Microseconds decide, and a step has both its ends.

struct PhasePlace {
  enum class Kind : std::uint32_t { before, step, between, after, count_ };
  Kind kind = Kind::before;
  Symbol phase = Symbol::none;  // of the step, or of the one before
  Symbol next = Symbol::none;   // between: of the one after
  auto operator<=>(const PhasePlace&) const = default;
};

class StepPhases {
 public:
  static constexpr std::size_t kSteps = 4096;

  struct Step {
    Time start{};
    Time end{};
    Symbol phase = Symbol::none;
  };

  void add(const Span& span) {
    if (first_phase_ == Symbol::none) first_phase_ = span.phase;
    several_ = several_ || span.phase != first_phase_;
    insert_sorted(steps_, {span.start, span.end(), span.phase}, &Step::start);
    if (steps_.size() <= kSteps) return;
    steps_.pop_front();
    whole_ = false;
  }

  // Nothing: it was too long ago.
  std::optional<PhasePlace> at(Time time) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), to_us(time),
                         [](std::int64_t us, const Step& step) { return us < to_us(step.start); });
    if (after == steps_.begin()) return whole_ ? std::optional(PhasePlace{}) : std::nullopt;
    const Step& step = *(after - 1);
    if (to_us(time) <= to_us(step.end)) return PhasePlace{PhasePlace::Kind::step, step.phase};
    if (after == steps_.end()) return PhasePlace{PhasePlace::Kind::after, step.phase};
    return PhasePlace{PhasePlace::Kind::between, step.phase, after->phase};
  }

  // Null where there is none.
  const Step* newest() const { return steps_.empty() ? nullptr : &steps_.back(); }
  // What begins before this is forgotten with the next step.
  std::optional<Time> forgotten_next() const {
    return steps_.size() < kSteps ? std::nullopt : std::optional(steps_[1].start);
  }
  Symbol first_phase() const { return first_phase_; }
  // Steps of more than one phase were seen: then what is between two of one phase belongs to it.
  bool several() const { return several_; }

  void state(StateIo& io, const Interner& interner) {
    io(steps_);
    io(first_phase_);
    io(several_);
    io(whole_);
    if (steps_.size() > kSteps || !is_known(interner, first_phase_)) io.fail();
    for (const Step& step : steps_) {
      if (!is_known(interner, step.phase)) io.fail();
    }
  }

 private:
  std::deque<Step> steps_;  // by start
  Symbol first_phase_ = Symbol::none;
  bool several_ = false;
  bool whole_ = true;  // no step was forgotten
};

class PhaseUsage {
 public:
  static constexpr Nanos kLateness = std::chrono::seconds(60);
  static constexpr std::size_t kWaiting = 65536;           // samples of a node,
  static constexpr std::size_t kFewestWaiting = 2048;      // or fewer,
  static constexpr std::size_t kWaitingOfAll = 1U << 20U;  // so that there are about so many in all
  static constexpr std::size_t kMaxNodes = 1024;
  static constexpr std::size_t kMaxGroups = 512;

  struct Resource {
    Symbol type = Symbol::none;
    SubjectId node = SubjectId::none;
    auto operator<=>(const Resource&) const = default;
  };
  struct Group {
    PhasePlace place;
    Resource resource;
    auto operator<=>(const Group&) const = default;
  };
  // A resource is several series: more values are kept for exact quantiles than of one.
  struct Values : Distribution {
    Values() : Distribution(4096) {}
  };
  using Groups = std::map<Group, Values>;

  explicit PhaseUsage(const Interner& interner) : interner_(interner) {}

  void on_step(const Span& step);
  void on_sample(const Sample& sample, Resource resource);

  // By the name of the phase, and what it is of. Empty without steps.
  std::map<std::pair<std::string, Resource>, Values> result() const;
  std::uint64_t left_out() const { return left_out_; }

  void state(StateIo& io);

 private:
  // Where the sample of a node that was settled last belongs: those of a tick come one after
  // another, those of its nodes in any order.
  struct Settled {
    std::uint64_t steps = 0;  // how many there were: the next one ends it
    Time at = kNoTime;
    std::optional<PhasePlace> place{};
    Symbol type = Symbol::none;
    Values* values = nullptr;  // null: not looked up yet, or no room
  };
  struct Node {
    WaitingSamples waiting;
    Time newest = kNoTime;
    Settled settled;
    void state(StateIo& io) {
      io(waiting);
      io(newest);
    }
  };

  bool leads(SubjectId rank) const;
  bool too_many_wait(const Node& node) const;
  bool is_final(const Node& node, const WaitingSamples::Sample& sample) const;
  void settle_front(SubjectId id, Node& node);
  void settle_beyond(const StepPhases::Step& step);
  // Null: there is no room for the group.
  static Values* values_of(Groups& groups, const Group& group);
  void merge(const Group& group, const Distribution& values);
  std::string name_of(const PhasePlace& place) const;

  const Interner& interner_;
  SubjectId leader_ = SubjectId::none;
  bool led_ = false;  // there was a step
  StepPhases phases_;
  std::map<SubjectId, Node> nodes_;
  std::uint64_t steps_ = 1;  // so far, and one; not saved
  Groups groups_;
  Groups beyond_;  // what did not wait any longer, after the newest step; their place is "after"
  Time newest_beyond_ = kNoTime;
  std::uint64_t left_out_ = 0;  // samples
};

}  // namespace trainwatch

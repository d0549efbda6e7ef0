// SPDX-License-Identifier: Apache-2.0
// An iteration of a job, and what one rank says about it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "trainwatch/event.h"
#include "trainwatch/life_part.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Seconds from one to the other, 0 if they are in the other order.
inline double seconds_between(Time from, Time to) {
  return std::max(to_seconds(to - from), 0.0);
}

// The phases of a step in which a rank may wait for others.
enum class StepPhase : std::uint8_t { forward, backward, optimizer, count_ };
inline constexpr std::size_t kStepPhases = static_cast<std::size_t>(StepPhase::count_);

inline std::optional<StepPhase> phase_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::forward:
      return StepPhase::forward;
    case SpanKind::backward:
      return StepPhase::backward;
    case SpanKind::optimizer:
      return StepPhase::optimizer;
    default:
      return std::nullopt;
  }
}

// The phases at whose end ranks leave together although they entered apart, one bit for each.
using Barriers = std::uint8_t;
constexpr Barriers barrier(StepPhase phase) {
  return static_cast<Barriers>(1U << static_cast<unsigned>(phase));
}

// What one rank, or one record of a log, says about an iteration: seconds by kind, from its own
// last step's end to this one's.
struct RankIteration {
  struct Phase {
    double enter = 0;  // seconds after the rank's last step
    double leave = 0;
    double inside = 0;
    bool seen = false;
  };

  SubjectId rank = SubjectId::none;
  double total = 0;
  std::uint32_t steps = 1;
  double own = -1;   // by the log's own timer, which leaves out what lies between steps; < 0: none
  double work = 0;   // units of work in a step; 0: not known
  double wait = 0;   // for input
  double pause = 0;  // of the host
  // Training waited so long for these.
  double checkpoint = 0;
  double evaluation = 0;
  bool checkpoint_gap = false;  // for as long as the gap between steps is
  bool evaluation_gap = false;
  double level = 0;  // of its work outside of barriers
  std::array<Phase, kStepPhases> phases{};

  double named() const { return wait + pause + checkpoint + evaluation; }
  // The part for time that nothing else explains: a log may mark an evaluation or a checkpoint
  // without saying how long it took.
  LifePart unexplained() const {
    if (evaluation_gap) return LifePart::evaluation;
    return checkpoint_gap ? LifePart::checkpoint : LifePart::unattributed;
  }
  bool has_phases() const {
    return std::ranges::any_of(phases, [](const Phase& phase) { return phase.seen; });
  }
  double inside(Barriers barriers) const {
    double sum = 0;
    for (std::size_t i = 0; i < kStepPhases; ++i) {
      if ((barriers >> i & 1U) != 0) sum += phases[i].inside;
    }
    return sum;
  }
  double inside_all() const { return inside(static_cast<Barriers>((1U << kStepPhases) - 1)); }
};

// An iteration that some ranks have ended: bounded, whatever their number.
struct JobIteration {
  static constexpr std::size_t kGroups = 16;  // of ranks, whose median is the level of all

  struct Group {
    double work = 0;
    std::uint32_t ranks = 0;
  };
  // When ranks entered and left a phase.
  struct Range {
    double enter_first = 1e18;
    double enter_last = -1e18;
    double leave_first = 1e18;
    double leave_last = -1e18;
  };

  std::int64_t number = 0;
  std::int64_t first_step = 0;  // as the job counts; the last is first_step + last.steps - 1
  Time begin = kNoTime;         // the earliest of a rank
  Time end{};                   // of the last rank
  Time earliest{};              // end of the first
  std::uint32_t seen = 0;       // ranks
  double own = -1e18;           // the most that a rank did by itself
  double noise = -1e18;         // the most that a rank did more than it usually does
  double allowed = -1;          // how much more the unluckiest may do; < 0: not known
  Barriers barriers = 0;     // as they were known when it began: all its ranks are measured alike
  std::uint32_t opened = 0;  // the second of the clock, counted
  RankIteration last;        // the rank that came last with its own work
  std::array<Group, kGroups> groups{};
  std::array<Range, kStepPhases> ranges{};

  // The usual work of a rank outside of barriers: a slow node is one group.
  double level() const;
  void state(StateIo& io);
};

}  // namespace trainwatch

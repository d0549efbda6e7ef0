// Which training phase a time lies in, by the last kSteps steps of one rank: within a step, between
// two, before the first or after the last. Microseconds decide, and a step has both its ends.
#pragma once

#include <algorithm>
#include <compare>
#include <deque>
#include <optional>

#include "pipeline/analysis/micros.h"
#include "pipeline/analysis/names.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

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
    std::uint32_t reserved = 0;  // no unset bytes in the state
  };

  void add(const Span& span) {
    if (first_phase_ == Symbol::none) first_phase_ = span.phase;
    several_ = several_ || span.phase != first_phase_;
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), span.start, starts_after);
    steps_.insert(after, {span.start, span.end(), span.phase});
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

  void state(StateIo& io, const Vocabulary& vocabulary) {
    io(steps_);
    io(first_phase_);
    io(several_);
    io(whole_);
    if (steps_.size() > kSteps || !is_known(vocabulary, first_phase_)) io.fail();
    for (const Step& step : steps_) {
      if (!is_known(vocabulary, step.phase)) io.fail();
    }
  }

 private:
  static bool starts_after(Time start, const Step& step) { return start < step.start; }

  std::deque<Step> steps_;  // by start
  Symbol first_phase_ = Symbol::none;
  bool several_ = false;
  bool whole_ = true;  // no step was forgotten
};

}  // namespace trainwatch

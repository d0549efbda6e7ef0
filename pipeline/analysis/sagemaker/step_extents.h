// SPDX-License-Identifier: Apache-2.0
// Puts the spans of one rank together by training step: for each name and each phase the time from
// the first start to the last end in the step. A span without a step number belongs to the step
// that it lies in; one that comes before its step waits for it.
//
// Bounded: the kOpen steps that were touched last, kWaiting spans, SymbolExtents::kMost names and
// phases in a step. A step is emitted when it makes room for another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <utility>

#include "pipeline/analysis/sagemaker/symbol_extents.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/event.h"
#include "trainwatch/insert_sorted.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class StepExtents {
 public:
  static constexpr std::size_t kOpen = 8;
  static constexpr std::size_t kWaiting = 1024;

  struct Names {
    Symbol phase = Symbol::none;
    Symbol name = Symbol::none;
  };
  struct OpenStep {
    std::int64_t number = kNoStep;
    bool known = false;  // its own span was seen: `whole` is that
    TimeExtent whole{};
    SymbolExtents names;
    SymbolExtents phases;

    void add(Names of, const TimeExtent& extent) {
      names.cover(of.name, extent);
      phases.cover(of.phase, extent);
    }
    // Becomes a new step.
    void begin(std::int64_t its_number) {
      number = its_number;
      known = false;
      whole = {};
      names.clear();
      phases.clear();
    }
  };

  // Calls `close(step)` with the step that made room, if one did.
  template <class Close>
  void on(const Span& span, Close&& close) {
    const Names names{span.phase, span.metric()};
    const TimeExtent extent{span.start, span.end()};
    if (span.step == kNoStep) return place(names, extent);
    OpenStep& step = touch(span.step, extent, close);
    step.add(names, extent);
    if (span.kind != SpanKind::step) return;
    if (!step.known) step.whole = extent;
    step.known = true;
    step.whole.cover(extent);
    take_waiting(step);
  }

  // The open steps; the one touched last comes last.
  const std::list<OpenStep>& open() const { return open_; }

  void state(StateIo& io, const Interner& interner) {
    io(open_);
    io(waiting_);
    if (io.is_loading()) last_is_only_ = false;
    const auto check = [&](Symbol symbol) {
      if (!is_known(interner, symbol)) io.fail();
    };
    for (const OpenStep& step : open_) {
      for (const SymbolExtents* symbols : {&step.names, &step.phases}) {
        symbols->each([&](Symbol symbol, const TimeExtent&) { check(symbol); });
      }
    }
    for (const auto& [names, extent] : waiting_) {
      check(names.name);
      check(names.phase);
    }
    if (!std::ranges::is_sorted(waiting_, {}, start_of)) io.fail();
    if (open_.size() > kOpen || waiting_.size() > kWaiting) io.fail();
  }

 private:
  using Waiting = std::pair<Names, TimeExtent>;

  // A step that begins again long after its end is another step with the same number: each mode
  // counts its own.
  static bool continues(const OpenStep& step, const TimeExtent& extent) {
    if (!step.known) return true;
    return extent.start - step.whole.end <= step.whole.end - step.whole.start;
  }

  template <class Close>
  OpenStep& touch(std::int64_t number, const TimeExtent& extent, Close&& close) {
    const auto belongs = [&](const OpenStep& step) {
      return step.number == number && continues(step, extent);
    };
    if (last_is_only_ && belongs(open_.back())) return open_.back();
    const auto same = std::ranges::count(open_, number, &OpenStep::number);
    const auto found = std::ranges::find_if(open_, belongs);
    last_is_only_ = same == (found == open_.end() ? 0 : 1);
    if (found != open_.end()) {
      open_.splice(open_.end(), open_, found);
      return open_.back();
    }
    if (open_.size() < kOpen) {
      open_.emplace_back();
    } else {
      close(open_.front());
      open_.splice(open_.end(), open_, open_.begin());  // with its memory
    }
    open_.back().begin(number);
    return open_.back();
  }

  // The step with the lowest number that contains the extent; null until there is one.
  OpenStep* around(const TimeExtent& extent) {
    OpenStep* best = nullptr;
    for (OpenStep& step : open_) {
      const bool inside =
          step.known && step.whole.start < extent.start && extent.end < step.whole.end;
      if (inside && (best == nullptr || step.number < best->number)) best = &step;
    }
    return best;
  }

  void place(Names names, const TimeExtent& extent) {
    if (OpenStep* const step = around(extent)) return step->add(names, extent);
    if (waiting_.size() == kWaiting) waiting_.pop_front();
    insert_sorted(waiting_, {names, extent}, start_of);
  }

  // No other step has changed: what lies in one of them does not wait. Where loaders wait outside
  // of steps, most of what waits stays, and is not looked at.
  void take_waiting(OpenStep& step) {
    if (waiting_.empty() || start_of(waiting_.back()) <= step.whole.start) return;
    const auto begin = std::ranges::upper_bound(waiting_, step.whole.start, {}, start_of);
    const auto end = std::ranges::lower_bound(begin, waiting_.end(), step.whole.end, {}, start_of);
    const auto taken = std::remove_if(begin, end, [&step](const Waiting& waiting) {
      if (waiting.second.end >= step.whole.end) return false;
      step.add(waiting.first, waiting.second);
      return true;
    });
    waiting_.erase(taken, end);
  }

  static Time start_of(const Waiting& waiting) { return waiting.second.start; }

  std::list<OpenStep> open_;
  bool last_is_only_ = false;    // no other open step has the number of the last one
  std::deque<Waiting> waiting_;  // by start
};

}  // namespace trainwatch

// Puts the spans of one rank together by training step: for each phase and name the time from the
// first start to the last end in the step. A span without a step number belongs to the step that it
// lies in; one that comes before its step waits for it.
//
// Bounded: the kOpen steps that were touched last, kWaiting spans, kPairs pairs of names in a step.
// A step is told when it makes room for another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "pipeline/analysis/names.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class StepExtents {
 public:
  static constexpr std::size_t kOpen = 8;
  static constexpr std::size_t kWaiting = 1024;
  static constexpr std::size_t kPairs = 4096;

  struct Extent {
    Time start{};
    Time end{};
    void cover(const Extent& other) {
      start = std::min(start, other.start);
      end = std::max(end, other.end);
    }
  };
  struct Names {
    Symbol phase = Symbol::none;
    Symbol name = Symbol::none;
    auto operator<=>(const Names&) const = default;
  };
  struct OpenStep {
    std::int64_t number = kNoStep;
    bool known = false;  // its own span was seen: `whole` is that
    Extent whole{};
    std::map<Names, Extent> parts;

    void add(Names names, const Extent& extent) {
      const auto entry = parts.find(names);
      if (entry != parts.end()) {
        entry->second.cover(extent);
      } else if (parts.size() < kPairs) {
        parts.emplace(names, extent);
      }
    }
    void state(StateIo& io) {
      io(number);
      io(known);
      io(whole);
      io(parts);
    }
  };

  // Calls `close(step)` with the step that made room, if one did.
  template <class Close>
  void on(const Span& span, Close&& close) {
    const Names names{span.phase, span.metric()};
    const Extent extent{span.start, span.end()};
    if (span.step == kNoStep) return place(names, extent);
    OpenStep& step = touch(span.step, extent, close);
    step.add(names, extent);
    if (span.kind != SpanKind::step) return;
    if (!step.known) step.whole = extent;
    step.known = true;
    step.whole.cover(extent);
    take_waiting();
  }

  // The steps that are not closed yet, the one touched last in the end.
  const std::deque<OpenStep>& open() const { return open_; }

  void state(StateIo& io, const Vocabulary& vocabulary) {
    io(open_);
    io(waiting_);
    const auto check = [&](Names names) {
      if (!is_known(vocabulary, names.phase) || !is_known(vocabulary, names.name)) io.fail();
    };
    for (const OpenStep& step : open_) {
      for (const auto& [names, extent] : step.parts) check(names);
    }
    for (const Waiting& waiting : waiting_) check(waiting.first);
    if (open_.size() > kOpen || waiting_.size() > kWaiting) io.fail();
  }

 private:
  using Waiting = std::pair<Names, Extent>;

  // A step that begins again long after its end is another one of the same number: each mode
  // counts its own.
  static bool continues(const OpenStep& step, const Extent& extent) {
    if (!step.known) return true;
    return extent.start - step.whole.end <= step.whole.end - step.whole.start;
  }

  template <class Close>
  OpenStep& touch(std::int64_t number, const Extent& extent, Close&& close) {
    const auto found = std::find_if(open_.begin(), open_.end(), [&](const OpenStep& step) {
      return step.number == number && continues(step, extent);
    });
    if (found != open_.end()) {
      if (found + 1 != open_.end()) std::rotate(found, found + 1, open_.end());
      return open_.back();
    }
    if (open_.size() == kOpen) {
      close(open_.front());
      open_.pop_front();
    }
    open_.emplace_back().number = number;
    return open_.back();
  }

  // The step of the lowest number that the extent lies in; null when there is none yet.
  OpenStep* around(const Extent& extent) {
    OpenStep* best = nullptr;
    for (OpenStep& step : open_) {
      const bool inside =
          step.known && step.whole.start < extent.start && extent.end < step.whole.end;
      if (inside && (best == nullptr || step.number < best->number)) best = &step;
    }
    return best;
  }

  void place(Names names, const Extent& extent) {
    if (OpenStep* const step = around(extent)) return step->add(names, extent);
    if (waiting_.size() == kWaiting) waiting_.pop_front();
    waiting_.emplace_back(names, extent);
  }

  void take_waiting() {
    std::erase_if(waiting_, [this](const Waiting& waiting) {
      OpenStep* const step = around(waiting.second);
      if (step != nullptr) step->add(waiting.first, waiting.second);
      return step != nullptr;
    });
  }

  std::deque<OpenStep> open_;
  std::deque<Waiting> waiting_;
};

}  // namespace trainwatch

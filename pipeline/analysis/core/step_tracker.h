// Makes training steps of spans: a step span closes a Step, with the time spent waiting for input
// inside it. A writer reports the waits of a step before or together with the step itself, in any
// order of their start times; what arrives after its step is not added to it.
//
// One instance serves all ranks. State per (subject, origin): the last `kWaits` waits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class StepTracker {
 public:
  // Takes a span of kind step or data_wait; other kinds are ignored. Returns the step it closed.
  std::optional<Step> on(const Span& span);

  void state(StateIo& io) { io(lanes_); }

 private:
  static constexpr std::size_t kWaits = 64;

  struct Wait {
    Time start{};
    Time end{};
  };
  struct RecentWaits {
    std::array<Wait, kWaits> ring{};
    std::uint32_t next = 0;
    std::uint32_t size = 0;

    void add(const Span& wait);
    Nanos within(Time start, Time end) const;
    void state(StateIo& io) {
      io(ring);
      io(next);
      io(size);
      if (next >= kWaits || size > kWaits) io.fail();
    }
  };

  std::map<std::pair<SubjectId, Origin>, RecentWaits> lanes_;
};

inline void StepTracker::RecentWaits::add(const Span& wait) {
  ring[next] = Wait{wait.start, wait.end()};
  next = (next + 1) % kWaits;
  size = std::min<std::uint32_t>(size + 1, kWaits);
}

inline Nanos StepTracker::RecentWaits::within(Time start, Time end) const {
  Nanos total{};
  for (std::uint32_t i = 0; i < size; ++i) {
    const Time from = std::max(ring[i].start, start);
    const Time to = std::min(ring[i].end, end);
    if (to > from) total += to - from;
  }
  return std::min(total, end - start);  // waits of several loaders may overlap
}

inline std::optional<Step> StepTracker::on(const Span& span) {
  if (span.kind == SpanKind::data_wait) {
    lanes_[{span.subject, span.origin}].add(span);
    return std::nullopt;
  }
  if (span.kind != SpanKind::step) return std::nullopt;
  Step step;
  step.start = span.start;
  step.duration = span.duration;
  step.data_wait = lanes_[{span.subject, span.origin}].within(span.start, span.end());
  step.number = span.step;
  step.subject = span.subject;
  step.mode = span.mode;
  step.origin = span.origin;
  return step;
}

}  // namespace trainwatch

// The most recent spans of the kinds that can explain a slow interval (checkpoints), per subject.
// Bounded: the last `kSpans` of each subject and kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class SpanHistory {
 public:
  void on(const Span& span);

  // How much of [start, end] spans of this kind cover; overlapping spans count twice at most up to
  // the whole interval.
  Nanos overlap(SubjectId subject, SpanKind kind, Time start, Time end) const;

  void state(StateIo& io) { io(recent_); }

 private:
  static constexpr std::size_t kSpans = 32;

  struct Interval {
    Time start{};
    Time end{};
  };
  struct Ring {
    std::array<Interval, kSpans> intervals{};
    std::uint32_t next = 0;
    void state(StateIo& io) {
      io(intervals);
      io(next);
      if (next >= kSpans) io.fail();
    }
  };

  std::map<std::pair<SubjectId, SpanKind>, Ring> recent_;
};

inline void SpanHistory::on(const Span& span) {
  if (span.kind != SpanKind::checkpoint) return;
  Ring& ring = recent_[{span.subject, span.kind}];
  ring.intervals[ring.next] = {span.start, span.end()};
  ring.next = (ring.next + 1) % kSpans;
}

inline Nanos SpanHistory::overlap(SubjectId subject, SpanKind kind, Time start, Time end) const {
  const auto found = recent_.find({subject, kind});
  if (found == recent_.end()) return Nanos{};
  Nanos total{};
  for (const Interval& interval : found->second.intervals) {
    const Time from = std::max(interval.start, start);
    const Time to = std::min(interval.end, end);
    if (to > from) total += to - from;
  }
  return std::min(total, end - start);
}

}  // namespace trainwatch

// The most recent spans of the kinds that can explain a slow interval, per subject: checkpoints,
// garbage collection, the start of loaders, and the phases of a step. Bounded: the last `kSpans` of
// each subject and kind.
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

  // The mean duration of the spans of this kind that ended before `time`; zero if there were none.
  Nanos usual(SubjectId subject, SpanKind kind, Time time) const;

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

  static bool explains(SpanKind kind) {
    return kind == SpanKind::checkpoint || kind == SpanKind::garbage_collection ||
           kind == SpanKind::data_init || kind == SpanKind::forward || kind == SpanKind::backward ||
           kind == SpanKind::optimizer;
  }

  std::map<std::pair<SubjectId, SpanKind>, Ring> recent_;
};

inline void SpanHistory::on(const Span& span) {
  if (!explains(span.kind)) return;
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

inline Nanos SpanHistory::usual(SubjectId subject, SpanKind kind, Time time) const {
  const auto found = recent_.find({subject, kind});
  if (found == recent_.end()) return Nanos{};
  Nanos total{};
  std::int64_t count = 0;
  for (const Interval& interval : found->second.intervals) {
    if (interval.end == Time{} || interval.end > time) continue;
    total += interval.end - interval.start;
    ++count;
  }
  return count == 0 ? Nanos{} : total / count;
}

}  // namespace trainwatch

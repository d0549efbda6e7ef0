#include "pipeline/analysis/core/span_history.h"

#include <algorithm>

namespace trainwatch {

void SpanHistory::on(const Span& span) {
  if (span.kind != SpanKind::checkpoint) return;
  Ring& ring = recent_[{span.subject, span.kind}];
  ring.intervals[ring.next] = {span.start, span.end()};
  ring.next = (ring.next + 1) % kSpans;
}

Nanos SpanHistory::overlap(SubjectId subject, SpanKind kind, Time start, Time end) const {
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

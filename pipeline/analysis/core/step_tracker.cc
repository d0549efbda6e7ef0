#include "pipeline/analysis/core/step_tracker.h"

#include <algorithm>

namespace trainwatch {

void StepTracker::RecentWaits::add(const Span& wait) {
  ring[next] = Wait{wait.start, wait.end()};
  next = (next + 1) % kWaits;
  size = std::min<std::uint32_t>(size + 1, kWaits);
}

Nanos StepTracker::RecentWaits::within(Time start, Time end) const {
  Nanos total{};
  for (std::uint32_t i = 0; i < size; ++i) {
    const Time from = std::max(ring[i].start, start);
    const Time to = std::min(ring[i].end, end);
    if (to > from) total += to - from;
  }
  return std::min(total, end - start);  // waits of several loaders may overlap
}

std::optional<Step> StepTracker::on(const Span& span) {
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

#include "pipeline/analysis/sagemaker/interval_contexts.h"

#include <algorithm>

namespace trainwatch {
namespace {

constexpr std::uint32_t kNoteEvery = 256;  // samples

void usage_state(StateIo& io, SystemUsage& usage) {
  io(usage.cpu);
  io(usage.busiest_core);
  io(usage.io_wait);
  io(usage.gpu);
}

}  // namespace

void IntervalContexts::Context::add(const Interval& interval, const Recent& span) {
  const Time start = std::max(interval.start, span.start);
  const Time end = std::min(interval.end, span.start + span.duration);
  if (end <= start) return;
  const auto known = active.find(span.metric);
  if (known != active.end()) {
    known->second += end - start;
  } else if (active.size() < kMetrics) {
    active.emplace(span.metric, end - start);
  }
}

void IntervalContexts::Context::state(StateIo& io) {
  bool noted = usage.has_value();
  io(noted);
  if (io.is_loading()) usage = noted ? std::optional(SystemUsage{}) : std::nullopt;
  if (usage) usage_state(io, *usage);
  io(active);
}

void IntervalContexts::on(const Sample& sample) {
  system_.on(sample);
  if (open_ && ++samples_ >= kNoteEvery) note_usage();
}

void IntervalContexts::on(const Span& span) {
  if (span.kind == SpanKind::step) return;  // that it lies in a step says nothing
  std::deque<Recent>* const recent = recent_.of(span.subject);
  if (recent == nullptr) return;
  if (recent->size() == kRecent) recent->pop_front();
  recent->push_back({span.start, span.duration, span.metric()});
  if (span.start >= last_end_) return;
  for (auto& [interval, context] : contexts_) {
    if (interval.rank == span.subject) context.add(interval, recent->back());
  }
}

void IntervalContexts::remember(const Interval& interval) {
  if (contexts_.size() == kIntervals || contexts_.contains(interval)) return;
  Context& context = contexts_[interval];
  last_end_ = std::max(last_end_, interval.end);
  open_ = true;
  if (system_.passed(interval.rank, interval.end)) note_usage();
  const auto recent = recent_.all().find(interval.rank);
  if (recent == recent_.all().end()) return;
  for (const Recent& span : recent->second) context.add(interval, span);
}

// Before its seconds are forgotten.
void IntervalContexts::note_usage() {
  samples_ = 0;
  open_ = false;
  for (auto& [interval, context] : contexts_) {
    if (context.usage) continue;
    if (system_.passed(interval.rank, interval.end)) {
      context.usage = system_.usage(interval.rank, interval.start, interval.end);
    } else {
      open_ = true;
    }
  }
}

SystemUsage IntervalContexts::usage(const Interval& interval) const {
  const auto known = contexts_.find(interval);
  if (known != contexts_.end() && known->second.usage) return *known->second.usage;
  return system_.usage(interval.rank, interval.start, interval.end);
}

std::vector<IntervalContexts::Active> IntervalContexts::activity(const Interval& interval) const {
  const auto known = contexts_.find(interval);
  if (known == contexts_.end()) return {};
  const auto& active = known->second.active;
  std::vector<Active> longest(active.begin(), active.end());
  std::sort(longest.begin(), longest.end(), [&](const Active& a, const Active& b) {
    return std::tuple(b.second, interner_.text(a.first)) <
           std::tuple(a.second, interner_.text(b.first));
  });
  return longest;
}

void IntervalContexts::state(StateIo& io) {
  system_.state(io);
  recent_.state(io, [&](std::deque<Recent>& recent) {
    io(recent);
    if (recent.size() > kRecent) io.fail();
    for (const Recent& span : recent) {
      if (!is_known(interner_, span.metric)) io.fail();
    }
  });
  auto count = static_cast<std::uint32_t>(contexts_.size());
  io(count);
  if (count > kIntervals) io.fail();
  if (io.is_loading()) contexts_.clear();
  auto known = contexts_.begin();
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    Interval interval = io.is_loading() ? Interval{} : known->first;
    io(interval.rank);
    io(interval.start);
    io(interval.end);
    if (!is_known(interner_, interval.rank)) io.fail();
    Context& context = io.is_loading() ? contexts_[interval] : known->second;
    context.state(io);
    if (context.active.size() > kMetrics) io.fail();
    for (const auto& [metric, time] : context.active) {
      if (!is_known(interner_, metric)) io.fail();
    }
    if (!io.is_loading()) ++known;
  }
  io(last_end_);
  io(samples_);
  io(open_);
}

}  // namespace trainwatch

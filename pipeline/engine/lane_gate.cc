#include "pipeline/engine/lane_gate.h"

#include <algorithm>

namespace trainwatch {

bool LaneGate::passes_at_once(const Event& event) {
  if (!anchored_ || again_ || !suspects_.empty()) return false;
  if (const auto* sample = std::get_if<Sample>(&event)) {
    const bool in_order = sample->at >= newest_start_ && sample->at <= kEndOfTime &&
                          !is_ahead({sample->at, sample->at}) && order_.idle();
    if (!in_order || !recent_samples_.add(*sample)) return false;
    move_to({sample->at, sample->at});
    fitting_in_file_ = true;
    return true;
  }
  const auto* span = std::get_if<Span>(&event);
  if (span == nullptr) return false;
  const EventTime time = interval(span->start, span->duration);
  if (absurdity(time) || is_ahead(time) || is_late(time) || !is_new(event)) return false;
  move_to(time);
  fitting_in_file_ = true;
  return true;
}

void LaneGate::take(const Event& event, GateOutput out) {
  const auto time = time_of(event);
  if (!time) {
    const auto* note = std::get_if<SourceNote>(&event);
    const bool complete = note != nullptr && note->kind == SourceNote::Kind::cycle_complete;
    if (complete) end_of_file(out);
    out.passed.push_back(event);
    return;
  }
  if (const auto reason = absurdity(*time)) {
    out.refused.push_back({event, *reason});
    return;
  }
  if (!anchored_ || is_ahead(*time) || (is_late(*time) && !again_)) {
    suspect(event, *time, out);
    return;
  }
  EventBatch contradicted;
  suspects_.reject_all(contradicted);
  refuse_suspects(contradicted, out);
  fitting_in_file_ = true;
  if (again_ && time->end <= newest_end_) {
    out.refused.push_back({event, RejectReason::duplicate});
    return;
  }
  again_ = false;
  accept(event, *time, out);
}

bool LaneGate::is_new(const Event& event) {
  if (const auto* sample = std::get_if<Sample>(&event)) return recent_samples_.add(*sample);
  const auto* span = std::get_if<Span>(&event);
  const bool told_once =
      span != nullptr && (span->kind == SpanKind::step || span->kind == SpanKind::data_wait);
  return !told_once || recent_spans_.add(*span);
}

void LaneGate::move_to(EventTime time) {
  newest_start_ = std::max(newest_start_, time.start);
  newest_end_ = std::max(newest_end_, std::min(time.end, time.start + kLongestPause));
}

void LaneGate::accept(const Event& event, EventTime time, GateOutput out) {
  if (!is_new(event)) {
    out.refused.push_back({event, RejectReason::duplicate});
    return;
  }
  move_to(time);
  if (const auto* sample = std::get_if<Sample>(&event)) {
    order_.add(*sample, newest_start_, out.passed);
  } else {
    out.passed.push_back(event);
  }
}

void LaneGate::suspect(const Event& event, EventTime time, GateOutput out) {
  const Nanos gap = anchored_ ? std::max(time.start - newest_end_, Nanos{0}) : Nanos{0};
  EventBatch displaced;
  const std::size_t agreeing = suspects_.hold(event, time, gap, options_, displaced);
  refuse_suspects(displaced, out);
  if (agreeing >= (anchored_ ? options_.agree : 2)) believe_largest(out);
}

void LaneGate::believe_largest(GateOutput out) {
  EventBatch believed;
  EventBatch rejected;
  suspects_.believe(anchored_ ? newest_end_ : Time{}, believed, rejected);
  const auto first = time_of(believed.front());
  if (!anchored_ || is_late(*first)) {  // nothing that waits can be sorted among these
    order_.release_all(out.passed);
    newest_start_ = newest_end_ = first->start;
    anchored_ = true;
  }
  for (const Event& event : believed) accept(event, *time_of(event), out);
  again_ = false;
  refuse_suspects(rejected, out);
}

void LaneGate::refuse_suspects(const EventBatch& events, GateOutput out) const {
  for (const Event& event : events) {
    const bool ahead = time_of(event)->start > newest_end_;
    out.refused.push_back({event, ahead ? RejectReason::ts_future : RejectReason::ts_past});
  }
}

void LaneGate::end_of_file(GateOutput out) {
  const std::size_t enough = fitting_in_file_ ? 2 : 1;
  if (suspects_.largest() >= enough) believe_largest(out);
  fitting_in_file_ = false;
}

void LaneGate::end_of_input(GateOutput out) {
  end_of_file(out);
  EventBatch alone;
  suspects_.reject_all(alone);
  refuse_suspects(alone, out);
  order_.release_all(out.passed);
}

bool LaneGate::plausible() const {
  const Time edge{};
  return newest_start_ >= edge && newest_end_ >= edge && newest_start_ <= kEndOfTime &&
         newest_end_ <= kEndOfTime;
}

void LaneGate::state(StateIo& io, const Vocabulary& vocabulary) {
  io(newest_start_);
  io(newest_end_);
  io(anchored_);
  io(again_);
  io(fitting_in_file_);
  order_.state(io, vocabulary);
  io(recent_samples_);
  io(recent_spans_);
  suspects_.state(io, vocabulary);
  if (!plausible()) io.fail();
  if (io.is_loading() && !io.ok()) *this = LaneGate(options_);
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timestamps/timestamp_filter.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>

#include "trainwatch/changed_keys.h"

namespace trainwatch {
namespace {

constexpr std::string_view kLaneRows = "filter/";
constexpr std::string_view kSampleRows = "recent_samples/";

std::string sample_rows(LaneId lane) {
  return id_row(kSampleRows, lane).append("/");
}

}  // namespace

bool LaneFilter::passes_at_once(const Event& event) {
  if (!anchored_ || rereading_ || !quarantine_.empty()) return false;
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
  if (implausible(time) || is_ahead(time) || is_late(time) || !is_new(event)) return false;
  move_to(time);
  fitting_in_file_ = true;
  return true;
}

void LaneFilter::take(const Event& event, FilterOutput out) {
  const auto time = time_of(event);
  if (!time) {
    const auto* note = std::get_if<SourceNote>(&event);
    const bool complete = note != nullptr && note->kind == SourceNote::Kind::cycle_complete;
    if (complete) end_of_file(out);
    out.passed.push_back(event);
    return;
  }
  if (const auto reason = implausible(*time)) {
    out.rejected.push_back({event, *reason});
    return;
  }
  if (!anchored_ || is_ahead(*time) || (is_late(*time) && !rereading_)) {
    quarantine(event, *time, out);
    return;
  }
  EventBatch contradicted;
  quarantine_.reject_all(contradicted);
  reject_quarantined(contradicted, out);
  fitting_in_file_ = true;
  if (rereading_ && !is_newer(*time)) {
    out.rejected.push_back({event, RejectReason::duplicate});
    return;
  }
  rereading_ = false;
  accept(event, *time, out);
}

bool LaneFilter::is_new(const Event& event) {
  if (const auto* sample = std::get_if<Sample>(&event)) return recent_samples_.add(*sample);
  const auto* span = std::get_if<Span>(&event);
  const bool unique =
      span != nullptr && (span->kind == SpanKind::step || span->kind == SpanKind::data_wait);
  return !unique || recent_spans_.add(*span);
}

void LaneFilter::move_to(EventTime time) {
  newest_start_ = std::max(newest_start_, time.start);
  newest_end_ = std::max(newest_end_, std::min(time.end, time.start + kLongestPause));
}

void LaneFilter::accept(const Event& event, EventTime time, FilterOutput out) {
  if (!is_new(event)) {
    out.rejected.push_back({event, RejectReason::duplicate});
    return;
  }
  move_to(time);
  if (const auto* sample = std::get_if<Sample>(&event)) {
    order_.add(*sample, newest_start_, out.passed);
  } else {
    out.passed.push_back(event);
  }
}

void LaneFilter::quarantine(const Event& event, EventTime time, FilterOutput out) {
  const Nanos gap = anchored_ ? std::max(time.start - newest_end_, Nanos{0}) : Nanos{0};
  EventBatch evicted;
  const std::size_t agreeing = quarantine_.hold(event, time, gap, options_, evicted);
  reject_quarantined(evicted, out);
  if (agreeing >= (anchored_ ? options_.agree : 2)) accept_largest(out);
}

void LaneFilter::accept_largest(FilterOutput out) {
  EventBatch accepted;
  EventBatch rejected;
  quarantine_.accept(anchored_ ? newest_end_ : Time{}, accepted, rejected);
  const auto first = time_of(accepted.front());
  if (!anchored_ || is_late(*first)) {  // none of the waiting samples can be sorted among these
    order_.release_all(out.passed);
    newest_start_ = newest_end_ = first->start;
    anchored_ = true;
  }
  for (const Event& event : accepted) accept(event, *time_of(event), out);
  rereading_ = false;
  reject_quarantined(rejected, out);
}

void LaneFilter::reject_quarantined(const EventBatch& events, FilterOutput out) const {
  for (const Event& event : events) {
    const bool ahead = time_of(event)->start > newest_end_;
    out.rejected.push_back({event, ahead ? RejectReason::ts_future : RejectReason::ts_past});
  }
}

void LaneFilter::end_of_file(FilterOutput out) {
  const std::size_t enough = fitting_in_file_ ? 2 : 1;
  if (quarantine_.largest() >= enough) accept_largest(out);
  fitting_in_file_ = false;
}

void LaneFilter::end_of_input(FilterOutput out) {
  end_of_file(out);
  EventBatch alone;
  quarantine_.reject_all(alone);
  reject_quarantined(alone, out);
  order_.release_all(out.passed);
}

bool LaneFilter::plausible() const {
  const Time edge{};
  return newest_start_ >= edge && newest_end_ >= edge && newest_start_ <= kEndOfTime &&
         newest_end_ <= kEndOfTime;
}

void LaneFilter::state(StateIo& io) {
  io(newest_start_);
  io(newest_end_);
  io(anchored_);
  io(rereading_);
  io(fitting_in_file_);
  order_.state(io);
  io(recent_spans_);
  quarantine_.state(io);
  if (!plausible()) io.fail();
}

TimestampFilter::TimestampFilter(TimestampFilterOptions options) : options_(options) {
  assert(options.agree > 0 && options.agree * Quarantine::kMaxGroups <= Quarantine::kMaxEvents);
}

LaneFilter& TimestampFilter::changed(LaneId lane) {
  changed_.insert(lane);
  return lanes_.try_emplace(lane, options_).first->second;
}

void TimestampFilter::filter(LaneId lane, EventBatch& batch, std::vector<RejectedEvent>& rejected) {
  LaneFilter& filter = changed(lane);
  std::size_t passed = 0;
  while (passed < batch.size() && filter.passes_at_once(batch[passed])) ++passed;
  if (passed == batch.size()) return;
  rest_.assign(batch.begin() + static_cast<std::ptrdiff_t>(passed), batch.end());
  batch.resize(passed);
  for (const Event& event : rest_) {
    if (filter.passes_at_once(event)) {
      batch.push_back(event);
    } else {
      filter.take(event, {batch, rejected});
    }
  }
}

void TimestampFilter::end_of_file(LaneId lane, EventBatch& passed,
                                  std::vector<RejectedEvent>& rejected) {
  changed(lane).end_of_file({passed, rejected});
}

void TimestampFilter::end_of_input(LaneId lane, EventBatch& passed,
                                   std::vector<RejectedEvent>& rejected) {
  changed(lane).end_of_input({passed, rejected});
}

void TimestampFilter::reread(LaneId lane) {
  changed(lane).reread();
}

void TimestampFilter::forget(LaneId lane) {
  const auto known = lanes_.find(lane);
  if (known == lanes_.end()) return;
  forgotten_.try_emplace(lane, known->second.recent_samples().rows());
  lanes_.erase(known);
  changed_.erase(lane);
}

void TimestampFilter::save(StateRows& rows, bool all) {
  for (const auto& [lane, count] : forgotten_) {
    rows.remove(id_row(kLaneRows, lane));
    rows.remove_numbered(sample_rows(lane), count);
  }
  forgotten_.clear();
  take_changed(lanes_, changed_, all, [&rows, all](LaneId lane, LaneFilter& filter) {
    rows.put(id_row(kLaneRows, lane), [&filter](StateIo& io) { io(filter); });
    filter.recent_samples().save(rows, sample_rows(lane), all);
  });
}

bool TimestampFilter::load(const SavedState& saved) {
  const auto load_lane = [&](std::string_view digits, std::string_view value) {
    const auto lane = id_in<LaneId>(digits);
    if (!lane) return false;
    StateIo io = saved.open(value);
    io(lanes_.try_emplace(*lane, options_).first->second);
    return io.complete();
  };
  const auto load_samples = [&](std::string_view key, std::string_view value) {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos) return false;
    const auto lane = id_in<LaneId>(key.substr(0, slash));
    const auto number = number_in<std::uint64_t>(key.substr(slash + 1));
    if (!lane || !number) return false;
    const auto known = lanes_.find(*lane);
    return known != lanes_.end() && known->second.recent_samples().load(*number, saved.open(value));
  };
  return for_rows(saved, kLaneRows, load_lane) && for_rows(saved, kSampleRows, load_samples);
}

}  // namespace trainwatch

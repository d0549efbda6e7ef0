// SPDX-License-Identifier: Apache-2.0
// PyTorch profiler (Kineto) traces of every format version: root object or array, one cycle in one
// file.
//
// Steps ("ProfilerStep#12") and data waits ("enumerate(DataLoader)#…__next__") become spans. Rank
// and time base may follow the events, so the spans of a cycle are held until the document is
// complete (or the input has ended) and are then emitted in the order of their ends, as a live
// writer would: the waits of a step, then the step. SourceNote::cycle_complete follows.
//
// If somebody takes cycles, a CycleTrace is built on the way and emitted right before the spans. It
// is not part of the state, because it may be as large as the document. What follows the end of a
// document that was finished before it was closed is a cycle of its own, of the same rank and base.
//
// Other programs write Chrome traces too. A document in which nothing is PyTorch's (no category, no
// step, no operator, no member of the root object) is read to its end and is no cycle.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/kineto/cycle_builder.h"
#include "pipeline/decode/kineto/cycle_rows.h"
#include "pipeline/decode/kineto/profiler_event.h"
#include "pipeline/decode/kineto/step_marks.h"
#include "pipeline/decode/kineto/trace_metadata.h"
#include "pipeline/decode/trace_document_decoder.h"

namespace trainwatch {
namespace {

// Categories that steps and waits were ever written under. Device annotations repeat the steps.
bool may_hold_steps(EventCategory category) {
  return category == EventCategory::host || category == EventCategory::annotation;
}

// Members of the root object that PyTorch's profiler writes, and nobody else.
bool is_profiler_member(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys = {
      "schemaVersion", "deviceProperties", "computeProperties", "distributedInfo", "traceName"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

class ChromeTraceDecoder final : public TraceDocumentDecoder {
 public:
  explicit ChromeTraceDecoder(const FileContext& context)
      : TraceDocumentDecoder(context),
        wants_host_events_(context.cycles != nullptr && context.cycles->wants_host_events()),
        event_({context.cycles != nullptr, wants_host_events_}) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void state(StateIo& io) override;
  bool needs_replay() const override {
    return context_.cycles != nullptr && cycle_lost_ && records_emitted_ == 0;
  }
  std::size_t unsaved_bytes() const override { return cycle_ != nullptr ? cycle_->bytes() : 0; }
  void take_unsaved(Decoder& old) override;
  std::optional<ProvisionalCycle> provisional() const override;

 private:
  using Member = ProfilerEvent::Member;

  Rejection read_event(std::string_view text) override;
  void read_member(std::string_view key, std::string_view value) override {
    from_profiler_ = from_profiler_ || is_profiler_member(key);
    metadata_.member(key, value);
  }

  Rejection read_uncategorised(std::string_view name);
  Rejection hold(std::string_view written_name);
  // nullopt: the event is good, and may be of use for a span too.
  Rejection add_to_cycle();
  // From "ts" and "dur"; the duration may be negative.
  std::optional<EventTimes> written_times() const;
  void note_end();
  void emit_cycle(EventBatch& out);
  void emit_spans(SubjectId subject, std::int64_t base_ns, EventBatch& out);
  void emit_cycle(SubjectId subject, std::int64_t base_ns);
  bool shows_activity(std::string_view name) const;
  void host_active();

  const bool wants_host_events_;
  ProfilerEventReader reader_;
  ProfilerEvent event_;  // the one that is being read
  StringReader strings_;
  StepMarks marks_;
  TraceMetadata metadata_;
  std::int64_t last_end_ns_ = 0;  // of all events without a category and all held ones, as written
  std::unique_ptr<CycleBuilder> cycle_;  // once there is something for it
  bool cycle_lost_ = false;              // its first part is, as the state was loaded
  std::uint64_t records_emitted_ = 0;    // with their cycle
  bool emitted_ = false;                 // all of the document
  bool from_profiler_ = false;           // something in the document is PyTorch's
};

// The cycle is emitted when the document is complete: what looks like its end may be damage.
void ChromeTraceDecoder::feed(std::string_view bytes, EventBatch&) {
  read_document(bytes);
}

void ChromeTraceDecoder::finish(EventBatch& out) {
  finish_document();
  emit_cycle(out);
}

Rejection ChromeTraceDecoder::read_event(std::string_view text) {
  if (document_ended() || emitted_) return RejectReason::syntax;
  if (!reader_.read(text, event_)) return RejectReason::syntax;
  if (event_.is_other_type()) return std::nullopt;
  const std::string_view name = between_quotes(event_[Member::name]);
  if (!event_.has(Member::category)) return read_uncategorised(name);
  from_profiler_ = from_profiler_ || event_.kind() != EventCategory::other;
  if (const Rejection reason = add_to_cycle()) return reason;
  if (!may_hold_steps(event_.kind())) return std::nullopt;
  if (event_.is_step_or_wait()) return hold(name);
  if (!event_.has(Member::name)) note_end();
  if (shows_activity(name)) host_active();
  return std::nullopt;
}

// Builds without Kineto name no categories.
Rejection ChromeTraceDecoder::read_uncategorised(std::string_view name) {
  if (event_.is_step_or_wait()) return hold(name);
  if (name.starts_with("aten::")) from_profiler_ = true;
  note_end();
  return std::nullopt;
}

std::optional<EventTimes> ChromeTraceDecoder::written_times() const {
  const auto start = parse_time_ns(event_[Member::ts], TimeUnit::microseconds);
  const auto duration = parse_time_ns(event_[Member::dur], TimeUnit::microseconds);
  if (!start || !duration) return std::nullopt;
  return EventTimes{*start, *duration};
}

void ChromeTraceDecoder::note_end() {
  const auto times = written_times();
  if (!times) return;
  last_end_ns_ = std::max(last_end_ns_, saturating_add(times->start_ns, times->duration_ns));
}

Rejection ChromeTraceDecoder::add_to_cycle() {
  if (context_.cycles == nullptr || cycle_lost_) return std::nullopt;
  if (!is_for_cycles(event_.kind()) && !wants_host_events_) return std::nullopt;
  if (cycle_ == nullptr) cycle_ = std::make_unique<CycleBuilder>(wants_host_events_);
  return cycle_->take(event_);
}

// Operators show that the host was not idle. In 2021 annotations had their category.
bool ChromeTraceDecoder::shows_activity(std::string_view name) const {
  if (context_.cycles == nullptr || cycle_lost_) return false;
  if (event_.kind() != EventCategory::host) return false;
  return event_[Member::category] == "\"cpu_op\"" || name.find("::") != std::string_view::npos;
}

void ChromeTraceDecoder::host_active() {
  const auto times = written_times();
  if (!times) return;
  if (cycle_ == nullptr) cycle_ = std::make_unique<CycleBuilder>(wants_host_events_);
  const std::int64_t lasted = std::max<std::int64_t>(times->duration_ns, 0);
  cycle_->host_active({times->start_ns, saturating_add(times->start_ns, lasted)});
}

// A step whose number cannot be read is any other event.
Rejection ChromeTraceDecoder::hold(std::string_view written_name) {
  const bool is_step = written_name.starts_with(kStepPrefix);
  const auto number = is_step ? step_number(written_name) : std::nullopt;
  if (is_step && !number) {
    note_end();
    return std::nullopt;
  }
  const auto times = written_times();
  if (!times) return RejectReason::time;
  const auto name = strings_.read(event_[Member::name]);
  if (!name) return unreadable(event_[Member::name]);
  SymbolTable& symbols = context_.interner.symbols;
  StepMark span;
  span.start_ns = times->start_ns;
  span.duration_ns =
      std::max<std::int64_t>(times->duration_ns, 0);  // as the writer itself clamps it
  span.step = number.value_or(kNoStep);
  span.process = integer_or(event_[Member::pid], -1);
  span.name = symbols.intern(*name);
  span.phase = symbols.intern(between_quotes(event_[Member::category]));
  span.kind = is_step ? SpanKind::step : SpanKind::data_wait;
  from_profiler_ = true;
  if (!marks_.add(span)) return RejectReason::cardinality;
  last_end_ns_ = std::max(last_end_ns_, span.end_ns());
  return std::nullopt;
}

void ChromeTraceDecoder::emit_cycle(EventBatch& out) {
  if (emitted_ || records() == records_emitted_) return;
  emitted_ = document_closed();
  records_emitted_ = records();
  if (!from_profiler_) return cycle_.reset();
  marks_.complete();
  const Subject subject = metadata_.subject(context_, marks_.process());
  const auto who = context_.interner.subjects.intern(subject);
  if (!who) {
    cycle_.reset();
    context_.diagnostics.reject(context_.file, RejectReason::cardinality, "profiler cycle");
    return;
  }
  const std::int64_t base = metadata_.time_base(context_.path, last_end_ns_);
  if (context_.cycles != nullptr && !cycle_lost_) emit_cycle(*who, base);
  cycle_lost_ = false;
  emit_spans(*who, base, out);
}

void ChromeTraceDecoder::emit_spans(SubjectId subject, std::int64_t base_ns, EventBatch& out) {
  Span span;
  span.subject = subject;
  span.origin = Origin::profiler;
  span.mode = Mode::train;
  marks_.take_spans(span, base_ns, out);
  out.push_back(SourceNote{time_from_ns(saturating_add(last_end_ns_, base_ns)), context_.lane,
                           SourceNote::Kind::cycle_complete});
}

void ChromeTraceDecoder::emit_cycle(SubjectId subject, std::int64_t base_ns) {
  if (cycle_ == nullptr) cycle_ = std::make_unique<CycleBuilder>(wants_host_events_);
  CycleTrace cycle = cycle_->finish(base_ns, marks_.data_waits());
  cycle_.reset();
  cycle.subject = subject;
  cycle.world_size = metadata_.world_size();
  cycle.base_ns = base_ns;
  cycle.steps = marks_.steps(base_ns);
  context_.cycles->cycle(cycle);
}

std::optional<ProvisionalCycle> ChromeTraceDecoder::provisional() const {
  if (emitted_ || records() == records_emitted_) return std::nullopt;
  ProvisionalCycle found = marks_.provisional();
  found.device_rows = cycle_ != nullptr ? cycle_->device_rows() : 0;
  return found;
}

void ChromeTraceDecoder::take_unsaved(Decoder& old) {
  auto& other = static_cast<ChromeTraceDecoder&>(old);
  cycle_ = std::move(other.cycle_);
  cycle_lost_ = other.cycle_lost_;
}

void ChromeTraceDecoder::state(StateIo& io) {
  document_state(io);
  io(marks_);
  io(metadata_);
  io(last_end_ns_);
  io(records_emitted_);
  io(emitted_);
  io(from_profiler_);
  if (!io.is_loading()) return;
  const bool begun = records() != records_emitted_ || (records() == 0 && bytes().rejected > 0);
  cycle_lost_ = !emitted_ && begun;
}

// The events of PyTorch have a category or, from builds without Kineto, a thread; those of
// SageMaker's writers have neither, and its metadata no time.
bool is_chrome_event(const TraceEvent& event, std::string_view path) {
  if (!event.category.empty()) return true;
  if (!event.start_time_us.empty()) return false;
  if (path.find("timeline.json") != std::string_view::npos) return false;
  const bool metadata_with_time = event.type() == 'M' && !event.ts.empty();
  const bool span_of_thread = event.type() == 'X' && !event.tid.empty();
  return metadata_with_time || span_of_thread;
}

Detection detect_chrome_trace(const FormatClue& clue) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "traceEvents",     "schemaVersion",       "deviceProperties", "computeProperties",
      "distributedInfo", "baseTimeNanoseconds", "traceName"};
  const bool key = clue.kind == FormatClue::Kind::member &&
                   std::find(kKeys.begin(), kKeys.end(), clue.key) != kKeys.end();
  const bool event =
      clue.kind == FormatClue::Kind::event && is_chrome_event(*clue.event, clue.path);
  return key || event ? Detection::yes : Detection::no;
}

}  // namespace

const Format chrome_trace_format = {.name = "chrome_trace",
                                    .detect = &detect_chrome_trace,
                                    .make = &make_decoder<ChromeTraceDecoder>};

}  // namespace trainwatch

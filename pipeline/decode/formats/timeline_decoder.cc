// SPDX-License-Identifier: Apache-2.0
// SageMaker's timelines: python, model, horovod, smdataparallel, open or closed, and raw Horovod.
// Every complete span is emitted at once.
//
// State (phases by pid, open B events, start time) belongs to one file: each file repeats its own
// metadata, and pids mean different things in different files. A B/E pair that rotation cut in two
// is lost.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_kind.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/decode/recurring_spans.h"
#include "pipeline/decode/remembered_token.h"
#include "pipeline/decode/symbol_reader.h"
#include "pipeline/decode/trace_document_decoder.h"
#include "pipeline/decode/trace_event.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxPhases = 65536;
constexpr std::size_t kMaxOpenSpans = 1024;  // per phase

// Numbers as they are; a name in place of a number by its hash. Absent is 0, as readers have it.
std::int64_t pid_key(std::string_view token) {
  if (token.empty()) return 0;
  if (const auto number = parse_integer(token)) return *number;
  return static_cast<std::int64_t>(std::hash<std::string_view>{}(token));
}

// A boolean, or Python's word for it in quotes.
PinMemory pin_memory(std::string_view token) {
  if (token.empty()) return PinMemory::unknown;
  const bool yes = token == "true" || token == "\"True\"" || token == "\"true\"";
  return yes ? PinMemory::yes : PinMemory::no;
}

class TimelineDecoder final : public TraceDocumentDecoder {
 public:
  explicit TimelineDecoder(const FileContext& context) : TraceDocumentDecoder(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void state(StateIo& io) override;
  std::uint64_t definitions() const override { return definitions_; }
  bool has_open_span() const override { return open_spans_ > 0; }

 private:
  struct OpenSpan {
    Symbol name{};
    std::int64_t start_ns = 0;  // as written, without the file's start time
  };
  struct Phase {
    Symbol name{};
    bool paired = false;         // a B event was seen
    std::vector<OpenSpan> open;  // a stack
  };

  // What the records so far had in common, so that those that come are quick to read.
  struct Habits {
    explicit Habits(SymbolTable& symbols) : names(symbols) {}

    TraceEventReader reader;
    SymbolReader names;
    SpanClassifier classifier;
    RepeatedInteger step;
    RepeatedInteger process;
    RepeatedInteger thread;
  };

  Rejection read_event(std::string_view text) override;
  void rest_if_closed();

  Rejection metadata(const TraceEvent& event);
  Rejection complete_span(std::string_view text, const TraceEvent& event);
  Rejection begin_span(const TraceEvent& event);
  Rejection end_span(const TraceEvent& event);

  // What the event says, but for its times.
  Span span_of(const TraceEvent& event, Symbol phase, Symbol name);
  void emit(const Span& span, const RecurringSpans::Times& times);
  // What its arguments call the event, if they do.
  Symbol layer_of(const TraceEvent& event);
  // The phase of an event, made when it is new; null when the table is full.
  Phase* phase_of(const TraceEvent& event);
  void read_path();

  std::unique_ptr<Habits> habits_;  // null: no record was read since the document was closed
  std::unique_ptr<RecurringSpans> recurring_;  // during feed(), if that is worth it
  EventBatch* out_ = nullptr;                  // during feed() and finish()
  std::string path_;                           // that subject_ was made from
  std::optional<SubjectId> subject_;           // nullopt: not known yet, or there is no room for it
  SpanKind fallback_ = SpanKind::other;
  std::map<std::int64_t, Phase> phases_;
  RememberedToken last_pid_;  // one look-up saved for most events
  Phase* last_phase_ = nullptr;
  std::int64_t start_time_ns_ = 0;
  std::int64_t last_end_ns_ = 0;   // of a span
  std::uint64_t definitions_ = 0;  // since the file was opened or its state loaded
  std::size_t open_spans_ = 0;     // of all phases
  bool names_training_ = false;    // the file of the training process itself
};

void TimelineDecoder::feed(std::string_view bytes, EventBatch& out) {
  out_ = &out;
  read_path();
  if (bytes.size() >= RecurringSpans::kLeastBytes) recurring_ = std::make_unique<RecurringSpans>();
  read_document(bytes);
  recurring_.reset();
  rest_if_closed();
  out_ = nullptr;
}

// Most files are closed, and of a large job there are thousands.
void TimelineDecoder::rest_if_closed() {
  if (document_closed()) habits_.reset();
}

void TimelineDecoder::finish(EventBatch& out) {
  out_ = &out;
  read_path();
  finish_document();
  if (document_closed() && names_training_ && last_end_ns_ > 0 && subject_) {
    out.push_back(SourceNote{time_from_ns(last_end_ns_), context_.lane,
                             SourceNote::Kind::timeline_closed, *subject_});
  }
  rest_if_closed();
  out_ = nullptr;
}

void TimelineDecoder::read_path() {
  if (path_ == context_.path && subject_) return;
  path_ = context_.path;
  const NodeRank source = timeline_path_metadata(path_);
  Subject subject{context_.job, source.node, source.rank, ""};
  if (context_.rank != kNoRank) subject.rank = context_.rank;
  context_.fill_in(subject);
  if (subject.rank == kNoRank) subject.process = source.process;
  subject_ = context_.interner.subjects.intern(subject);
  fallback_ = is_communication_timeline(path_) ? SpanKind::communication : SpanKind::other;
  names_training_ = base_name(path_).find("pythontimeline") != std::string_view::npos;
}

Rejection TimelineDecoder::read_event(std::string_view text) {
  if (recurring_ != nullptr) {
    RecurringSpans::Times times;
    if (const Span* const known = recurring_->read(text, times)) {
      emit(*known, times);
      return std::nullopt;
    }
  }
  TraceEvent event;
  if (!habits_) habits_ = std::make_unique<Habits>(context_.interner.symbols);
  if (!habits_->reader.read(text, event)) return RejectReason::syntax;
  if (!subject_) return RejectReason::cardinality;
  switch (event.type()) {
    case 'M':
      return metadata(event);
    case 'X':
      return complete_span(text, event);
    case 'B':
      return begin_span(event);
    case 'E':
      return end_span(event);
    default:
      return std::nullopt;  // instants, counters, flows, and "{}" at the end
  }
}

Rejection TimelineDecoder::metadata(const TraceEvent& event) {
  if (recurring_ != nullptr) recurring_->clear();
  if (!event.start_time_us.empty()) {
    const auto start = parse_time_ns(event.start_time_us, TimeUnit::microseconds);
    if (!start) return RejectReason::time;
    start_time_ns_ = *start;
  }
  ++definitions_;
  if (between_quotes(event.name) != "process_name" || event.args_name.empty()) return std::nullopt;
  const auto name = habits_->names.read(event.args_name);
  if (!name) return unreadable(event.args_name);
  Phase* const phase = phase_of(event);
  if (phase == nullptr) return RejectReason::cardinality;
  phase->name = *name;
  return std::nullopt;
}

Rejection TimelineDecoder::complete_span(std::string_view text, const TraceEvent& event) {
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!start) return RejectReason::time;
  std::optional<std::int64_t> duration = 0;
  if (!event.dur.empty()) duration = parse_time_ns(event.dur, TimeUnit::microseconds);
  if (!duration || *duration < 0) return RejectReason::time;
  if (!is_string_token(event.name)) return RejectReason::type;
  const auto name = habits_->names.read(event.name);
  if (!name) return unreadable(event.name);
  const Phase* const phase = phase_of(event);
  if (phase == nullptr) return RejectReason::cardinality;
  const Span span = span_of(event, phase->name, *name);
  emit(span, {*start, *duration});
  if (recurring_ != nullptr) recurring_->learn(text, event, span);
  return std::nullopt;
}

Rejection TimelineDecoder::begin_span(const TraceEvent& event) {
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!start) return RejectReason::time;
  if (!is_string_token(event.name)) return RejectReason::type;
  const auto name = habits_->names.read(event.name);
  if (!name) return unreadable(event.name);
  Phase* const phase = phase_of(event);
  if (phase == nullptr || phase->open.size() >= kMaxOpenSpans) return RejectReason::cardinality;
  phase->paired = true;
  phase->open.push_back({*name, *start});
  ++open_spans_;
  return std::nullopt;
}

Rejection TimelineDecoder::end_span(const TraceEvent& event) {
  Phase* const phase = phase_of(event);
  if (phase == nullptr) return RejectReason::cardinality;
  // Rotation may have cut the pair: the file before this one has the B.
  if (!phase->paired) return std::nullopt;
  if (phase->open.empty()) return RejectReason::type;
  const auto end = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!end) return RejectReason::time;
  const OpenSpan begun = phase->open.back();
  phase->open.pop_back();
  --open_spans_;
  if (*end < begun.start_ns) return RejectReason::time;
  emit(span_of(event, phase->name, begun.name), {begun.start_ns, *end - begun.start_ns});
  return std::nullopt;
}

Span TimelineDecoder::span_of(const TraceEvent& event, Symbol phase, Symbol name) {
  const SpanClass kind =
      habits_->classifier.classify(context_.interner.symbols, phase, name, fallback_);
  Span span;
  span.step = habits_->step.read(event.step_num, kNoStep);
  span.subject = *subject_;
  span.name = name;
  span.phase = phase;
  span.worker = static_cast<std::int32_t>(integer_or(event.worker_id, kNoWorker));
  span.process = habits_->process.read(event.args_pid, -1);
  span.thread = habits_->thread.read(thread_of(event), kNoThread);
  span.kind = kind.kind;
  span.mode = kind.mode;
  span.origin = Origin::timeline;
  span.pin_memory = pin_memory(event.pin_memory);
  span.num_workers = static_cast<std::int32_t>(integer_or(event.num_workers, kNoWorker));
  span.layer = layer_of(event);
  return span;
}

void TimelineDecoder::emit(const Span& span, const RecurringSpans::Times& times) {
  Span& made = std::get<Span>(out_->emplace_back(std::in_place_type<Span>, span));
  made.start = time_from_ns(saturating_add(times.start_ns, start_time_ns_));
  made.duration = Nanos{times.duration_ns};
  last_end_ns_ = std::max(last_end_ns_, saturating_add(to_ns(made.start), times.duration_ns));
}

Symbol TimelineDecoder::layer_of(const TraceEvent& event) {
  const std::string_view token =
      event.args_layer_name.empty() ? event.args_name : event.args_layer_name;
  return token.empty() ? Symbol::none : habits_->names.read(token).value_or(Symbol::none);
}

TimelineDecoder::Phase* TimelineDecoder::phase_of(const TraceEvent& event) {
  if (last_phase_ != nullptr && last_pid_.is(event.pid)) return last_phase_;
  const std::int64_t pid = pid_key(event.pid);
  auto entry = phases_.find(pid);
  if (entry == phases_.end()) {
    if (phases_.size() >= kMaxPhases) return nullptr;
    entry = phases_.emplace(pid, Phase{}).first;
    entry->second.name = context_.interner.symbols.intern("Unknown");
  }
  last_pid_.remember(event.pid);
  last_phase_ = &entry->second;  // a map: stays where it is
  return last_phase_;
}

void TimelineDecoder::state(StateIo& io) {
  document_state(io);
  io(phases_);
  io(start_time_ns_);
  io(last_end_ns_);
  last_phase_ = nullptr;
  if (!io.is_loading()) return;
  open_spans_ = 0;
  for (const auto& [pid, phase] : phases_) open_spans_ += phase.open.size();
}

// An array of events without the marks of any other format.
Detection detect_timeline(const FormatClue& clue) {
  return clue.kind == FormatClue::Kind::event ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format timeline_format = {.name = "timeline",
                                       .parts = true,
                                       .detect = &detect_timeline,
                                       .make = &make_decoder<TimelineDecoder>};

}  // namespace trainwatch

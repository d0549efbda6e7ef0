#include "pipeline/decode/timeline_decoder.h"

#include <functional>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/source_name.h"

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

}  // namespace

void TimelineDecoder::feed(std::string_view bytes, EventBatch& out) {
  out_ = &out;
  look_at_path();
  splitter_.feed(bytes, *this);
  out_ = nullptr;
}

void TimelineDecoder::finish(EventBatch& out) {
  out_ = &out;
  splitter_.finish(*this);
  out_ = nullptr;
}

void TimelineDecoder::look_at_path() {
  if (path_ == context_.path && subject_ != SubjectId::none) return;
  path_ = context_.path;
  const NodeRank source = timeline_source(path_);
  Subject subject{context_.job, source.node, source.rank, ""};
  if (context_.rank != kNoRank) subject.rank = context_.rank;
  subject_ = context_.vocabulary.subjects.intern(subject);
  fallback_ = is_communication_timeline(path_) ? SpanKind::communication : SpanKind::other;
}

void TimelineDecoder::record(std::string_view text) {
  TraceEvent event;
  Refusal refusal = RejectReason::syntax;
  if (read_trace_event(text, event)) refusal = apply(event);
  if (refusal) {
    rejected(*refusal, text);
  } else {
    ++records_;
  }
}

void TimelineDecoder::rejected(RejectReason reason, std::string_view sample) {
  context_.diagnostics.reject(context_.file, reason, sample);
}

TimelineDecoder::Refusal TimelineDecoder::apply(const TraceEvent& event) {
  switch (event.type()) {
    case 'M':
      return metadata(event);
    case 'X':
      return complete_span(event);
    case 'B':
      return begin_span(event);
    case 'E':
      return end_span(event);
    default:
      return std::nullopt;  // instants, counters, flows, and "{}" at the end
  }
}

TimelineDecoder::Refusal TimelineDecoder::metadata(const TraceEvent& event) {
  if (!event.start_time_us.empty()) {
    const auto start = parse_time_ns(event.start_time_us, TimeUnit::microseconds);
    if (!start) return RejectReason::time;
    start_time_ns_ = *start;
  }
  if (between_quotes(event.name) != "process_name" || event.args_name.empty()) return std::nullopt;
  const auto name = strings_.read(event.args_name);
  if (!name) return RejectReason::utf8;
  Phase* const phase = phase_of(event);
  if (phase == nullptr) return RejectReason::cardinality;
  phase->name = context_.vocabulary.symbols.intern(*name);
  return std::nullopt;
}

TimelineDecoder::Refusal TimelineDecoder::complete_span(const TraceEvent& event) {
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!start) return RejectReason::time;
  std::optional<std::int64_t> duration = 0;
  if (!event.dur.empty()) duration = parse_time_ns(event.dur, TimeUnit::microseconds);
  if (!duration || *duration < 0) return RejectReason::time;
  if (!is_string_token(event.name)) return RejectReason::type;
  const auto name = strings_.read(event.name);
  if (!name) return RejectReason::utf8;
  const Phase* const phase = phase_of(event);
  if (phase == nullptr) return RejectReason::cardinality;
  emit(event, phase->name, context_.vocabulary.symbols.intern(*name), *start, *duration);
  return std::nullopt;
}

TimelineDecoder::Refusal TimelineDecoder::begin_span(const TraceEvent& event) {
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!start) return RejectReason::time;
  if (!is_string_token(event.name)) return RejectReason::type;
  const auto name = strings_.read(event.name);
  if (!name) return RejectReason::utf8;
  Phase* const phase = phase_of(event);
  if (phase == nullptr || phase->open.size() >= kMaxOpenSpans) return RejectReason::cardinality;
  phase->paired = true;
  phase->open.push_back({context_.vocabulary.symbols.intern(*name), *start});
  return std::nullopt;
}

TimelineDecoder::Refusal TimelineDecoder::end_span(const TraceEvent& event) {
  Phase* const phase = phase_of(event);
  if (phase == nullptr) return RejectReason::cardinality;
  // Rotation may have cut the pair: the file before this one has the B.
  if (!phase->paired) return std::nullopt;
  if (phase->open.empty()) return RejectReason::type;
  const auto end = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!end) return RejectReason::time;
  const OpenSpan begun = phase->open.back();
  phase->open.pop_back();
  if (*end < begun.start_ns) return RejectReason::time;
  emit(event, phase->name, begun.name, begun.start_ns, *end - begun.start_ns);
  return std::nullopt;
}

void TimelineDecoder::emit(const TraceEvent& event, Symbol phase, Symbol name,
                           std::int64_t start_ns, std::int64_t duration_ns) {
  const SpanClass kind = classifier_.classify(context_.vocabulary.symbols, phase, name, fallback_);
  Span& span = std::get<Span>(out_->emplace_back(std::in_place_type<Span>));
  span.start = time_from_ns(saturating_add(start_ns, start_time_ns_));
  span.duration = Nanos{duration_ns};
  span.step = integer_or(event.step_num, kNoStep);
  span.subject = subject_;
  span.name = name;
  span.phase = phase;
  span.worker = static_cast<std::int32_t>(integer_or(event.worker_id, kNoWorker));
  span.process = integer_or(event.args_pid, -1);
  span.thread = integer_or(thread_of(event), kNoThread);
  span.kind = kind.kind;
  span.mode = kind.mode;
  span.origin = Origin::timeline;
  span.pin_memory = pin_memory(event.pin_memory);
  span.num_workers = static_cast<std::int32_t>(integer_or(event.num_workers, kNoWorker));
  span.layer = layer_of(event);
}

Symbol TimelineDecoder::layer_of(const TraceEvent& event) {
  const std::string_view token =
      event.args_layer_name.empty() ? event.args_name : event.args_layer_name;
  if (token.empty()) return Symbol::none;
  const auto text = strings_.read(token);
  return text ? context_.vocabulary.symbols.intern(*text) : Symbol::none;
}

TimelineDecoder::Phase* TimelineDecoder::phase_of(const TraceEvent& event) {
  const std::int64_t pid = pid_key(event.pid);
  if (last_phase_ != nullptr && pid == last_pid_) return last_phase_;
  auto entry = phases_.find(pid);
  if (entry == phases_.end()) {
    if (phases_.size() >= kMaxPhases) return nullptr;
    entry = phases_.emplace(pid, Phase{}).first;
    entry->second.name = context_.vocabulary.symbols.intern("Unknown");
  }
  last_pid_ = pid;
  last_phase_ = &entry->second;  // a map: stays where it is
  return last_phase_;
}

void TimelineDecoder::state(StateIo& io) {
  splitter_.state(io);
  io(phases_);
  io(start_time_ns_);
  io(records_);
  last_phase_ = nullptr;
}

}  // namespace trainwatch

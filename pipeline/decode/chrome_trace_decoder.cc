#include "pipeline/decode/chrome_trace_decoder.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_times.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/source_name.h"

namespace trainwatch {
namespace {

// Times as written that are later than this are since the epoch (this is March 1973).
constexpr std::int64_t kFirstAbsoluteNs = 100'000'000'000'000'000;

constexpr std::string_view kStep = "ProfilerStep";
constexpr std::string_view kLoader = "enumerate(DataLoader)#";

// Categories that steps and waits were ever written under. Device annotations repeat the steps.
bool may_hold_steps(EventCategory category) {
  return category == EventCategory::host || category == EventCategory::annotation;
}

// "ProfilerStep#12", also with spaces around the '#'.
std::optional<std::int64_t> step_number(std::string_view name) {
  name.remove_prefix(kStep.size());
  const std::size_t mark = name.find_first_not_of(' ');
  if (mark == std::string_view::npos || name[mark] != '#') return std::nullopt;
  const std::size_t digits = name.find_first_not_of(' ', mark + 1);
  if (digits == std::string_view::npos) return std::nullopt;
  name.remove_prefix(digits);
  return parse_integer(name.substr(0, name.find_first_not_of("0123456789")));
}

}  // namespace

void ChromeTraceDecoder::feed(std::string_view bytes, EventBatch& out) {
  splitter_.feed(bytes, *this);
  if (splitter_.closed()) emit_cycle(out);
}

void ChromeTraceDecoder::finish(EventBatch& out) {
  splitter_.finish(*this);
  emit_cycle(out);
}

void ChromeTraceDecoder::record(std::string_view text) {
  if (const Refusal refusal = look_at(text)) {
    rejected(*refusal, text);
  } else {
    ++records_;
  }
}

void ChromeTraceDecoder::rejected(RejectReason reason, std::string_view sample) {
  context_.diagnostics.reject(context_.file, reason, sample);
}

// Returns as soon as it is clear that nobody reads this event, which for most is after "cat".
ChromeTraceDecoder::Refusal ChromeTraceDecoder::look_at(std::string_view text) {
  JsonCursor cursor{text};
  Tokens tokens;
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    if (key == "ph") {
      if (value != "\"X\"") return std::nullopt;
    } else if (key == "cat") {
      const EventCategory category = event_category(value);
      if (const Refusal refusal = add_to_cycle(category, text)) return refusal;
      if (!may_hold_steps(category)) return std::nullopt;
      tokens.category = value;
      tokens.kind = category;
    } else if (key == "name") {
      tokens.name = value;
    } else if (key == "ts") {
      tokens.ts = value;
    } else if (key == "dur") {
      tokens.dur = value;
    } else if (key == "pid") {
      tokens.pid = value;
    } else {
      continue;
    }
    const bool decided = !tokens.category.empty() && !tokens.name.empty();
    if (!decided) continue;
    const std::string_view name = between_quotes(tokens.name);
    if (name.starts_with(kStep) || name.starts_with(kLoader)) continue;
    if (!tells_activity(tokens)) return std::nullopt;
    if (tokens.ts.empty() || tokens.dur.empty()) continue;
    host_active(tokens);
    return std::nullopt;
  }
  if (cursor.failed()) return RejectReason::syntax;
  const std::string_view name = between_quotes(tokens.name);
  if (name.starts_with(kStep)) {
    if (const auto step = step_number(name)) return hold(tokens, SpanKind::step, *step);
  } else if (name.starts_with(kLoader)) {
    return hold(tokens, SpanKind::data_wait, kNoStep);
  }
  const auto start = parse_time_ns(tokens.ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(tokens.dur, TimeUnit::microseconds);
  if (start && duration) {
    last_end_ns_ = std::max(last_end_ns_, saturating_add(*start, *duration));
  }
  return std::nullopt;
}

ChromeTraceDecoder::Refusal ChromeTraceDecoder::add_to_cycle(EventCategory category,
                                                             std::string_view text) {
  if (context_.cycles == nullptr || cycle_lost_) return std::nullopt;
  if (!is_for_cycles(category) && !host_rows_) return std::nullopt;
  if (cycle_ == nullptr) cycle_ = std::make_unique<CycleBuilder>(host_rows_);
  return cycle_->take(category, text);
}

// Operators show that the host was not idle. In 2021 annotations had their category.
bool ChromeTraceDecoder::tells_activity(const Tokens& tokens) const {
  if (context_.cycles == nullptr || cycle_lost_ || tokens.kind != EventCategory::host) return false;
  return tokens.category == "\"cpu_op\"" || tokens.name.find("::") != std::string_view::npos;
}

void ChromeTraceDecoder::host_active(const Tokens& tokens) {
  const auto start = parse_time_ns(tokens.ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(tokens.dur, TimeUnit::microseconds);
  if (!start || !duration) return;
  if (cycle_ == nullptr) cycle_ = std::make_unique<CycleBuilder>(host_rows_);
  cycle_->host_active({*start, saturating_add(*start, std::max<std::int64_t>(*duration, 0))});
}

ChromeTraceDecoder::Refusal ChromeTraceDecoder::hold(const Tokens& tokens, SpanKind kind,
                                                     std::int64_t step) {
  const auto start = parse_time_ns(tokens.ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(tokens.dur, TimeUnit::microseconds);
  if (!start || !duration) return RejectReason::time;
  const auto name = strings_.read(tokens.name);
  if (!name) return RejectReason::utf8;
  SymbolTable& symbols = context_.vocabulary.symbols;
  StepMark span;
  span.start_ns = *start;
  span.duration_ns = std::max<std::int64_t>(*duration, 0);  // as the writer itself clamps it
  span.step = step;
  span.process = integer_or(tokens.pid, -1);
  span.name = symbols.intern(*name);
  span.phase = symbols.intern(between_quotes(tokens.category));
  span.kind = kind;
  if (!marks_.add(span)) return RejectReason::cardinality;
  last_end_ns_ = std::max(last_end_ns_, saturating_add(*start, span.duration_ns));
  return std::nullopt;
}

void ChromeTraceDecoder::member(std::string_view key, std::string_view value) {
  if (key == "baseTimeNanoseconds") {
    base_ns_ = parse_integer(value);
  } else if (key == "host_name") {
    if (const auto text = strings_.read(value)) host_ = *text;
  } else if (key == "distributedInfo") {
    JsonCursor cursor{value};
    cursor.enter();
    for (std::string_view name; cursor.next(name);) {
      const std::string_view token = cursor.value();
      if (name == "rank") rank_ = parse_integer(token);
      if (name == "world_size") world_size_ = std::max<std::int64_t>(integer_or(token, 0), 0);
    }
  }
}

std::int64_t ChromeTraceDecoder::time_base(std::optional<std::int64_t> file_end_ns) const {
  if (base_ns_) return *base_ns_;
  if (last_end_ns_ >= kFirstAbsoluteNs || !file_end_ns) return 0;
  return *file_end_ns - last_end_ns_;  // the file is named when its last event has ended
}

void ChromeTraceDecoder::emit_cycle(EventBatch& out) {
  if (emitted_ || records_ == 0) return;
  emitted_ = true;
  const ProfileSource source = profile_source(context_.path);
  const SubjectId who = context_.vocabulary.subjects.intern(subject(source.node, source.rank));
  const std::int64_t base = time_base(source.end_ns);
  marks_.complete();
  if (context_.cycles != nullptr && !cycle_lost_) tell_cycle(who, base);
  emit_spans(who, base, out);
}

// `node` and `rank` are what the file is named after.
Subject ChromeTraceDecoder::subject(const std::string& node, std::int32_t rank) const {
  Subject subject{context_.job, host_.empty() ? node : host_, context_.rank, ""};
  if (subject.rank == kNoRank && rank_ && *rank_ >= 0) {
    subject.rank = static_cast<std::int32_t>(*rank_);
  }
  if (subject.rank == kNoRank) subject.rank = rank;
  return subject;
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

void ChromeTraceDecoder::tell_cycle(SubjectId subject, std::int64_t base_ns) {
  if (cycle_ == nullptr) cycle_ = std::make_unique<CycleBuilder>(host_rows_);
  CycleTrace cycle = cycle_->finish(base_ns, marks_.data_waits());
  cycle_.reset();
  cycle.subject = subject;
  cycle.world_size = world_size_;
  cycle.base_ns = base_ns;
  cycle.steps = marks_.steps(base_ns);
  context_.cycles->cycle(cycle);
}

std::optional<ProvisionalCycle> ChromeTraceDecoder::provisional() const {
  if (emitted_ || records_ == 0) return std::nullopt;
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
  splitter_.state(io);
  io(marks_);
  io(base_ns_);
  io(rank_);
  io(world_size_);
  io(host_);
  io(last_end_ns_);
  io(emitted_);
  io(records_);
  if (io.is_loading()) cycle_lost_ = !emitted_;
}

}  // namespace trainwatch

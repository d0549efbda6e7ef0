#include "pipeline/decode/tensorflow_trace_decoder.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/source_name.h"
#include "pipeline/decode/trace_event.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxWaiting = std::size_t{1} << 16U;
constexpr std::size_t kMaxProcesses = 4096;

}  // namespace

void TensorflowTraceDecoder::feed(std::string_view bytes, EventBatch& out) {
  if (!looked_) {
    looked_ = true;
    start_ns_ = find_start();
  }
  subject_ = context_.vocabulary.subjects.intern(
      {context_.job, tensorflow_node(context_.path), context_.rank, ""});
  splitter_.feed(bytes, *this);
  // Rather spans on a wrong axis than memory without bounds.
  if (!start_ns_ && waiting_.size() > kMaxWaiting) start_ns_ = find_start().value_or(0);
  if (start_ns_) release(out);
  if (splitter_.closed()) end_of_document(out);
}

void TensorflowTraceDecoder::finish(EventBatch& out) {
  splitter_.finish(*this);
  end_of_document(out);
}

std::optional<std::int64_t> TensorflowTraceDecoder::find_start() const {
  if (!context_.list_directory) return std::nullopt;
  std::vector<std::string> names = context_.list_directory(metadata_directory(context_.path));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (const auto start = metadata_start_ns(name)) return start;
  }
  return std::nullopt;
}

void TensorflowTraceDecoder::record(std::string_view text) {
  if (const Refusal refusal = apply(text)) {
    rejected(*refusal, text);
  } else {
    ++records_;
  }
}

void TensorflowTraceDecoder::rejected(RejectReason reason, std::string_view sample) {
  context_.diagnostics.reject(context_.file, reason, sample);
}

TensorflowTraceDecoder::Refusal TensorflowTraceDecoder::apply(std::string_view text) {
  TraceEvent event;
  if (!read_trace_event(text, event)) return RejectReason::syntax;
  SymbolTable& symbols = context_.vocabulary.symbols;
  const std::int64_t pid = parse_integer(event.pid).value_or(0);
  if (event.type() == 'M') {
    if (between_quotes(event.name) != "process_name") return std::nullopt;
    const auto name = strings_.read(event.args_name);
    if (!name) return RejectReason::utf8;
    if (processes_.size() >= kMaxProcesses) return RejectReason::cardinality;
    processes_[pid] = symbols.intern(*name);
  }
  if (event.type() != 'X') return std::nullopt;
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(event.dur, TimeUnit::microseconds);
  if (!start || !duration || *duration < 0) return RejectReason::time;
  if (!is_string_token(event.name)) return RejectReason::type;
  const auto name = strings_.read(event.name);
  if (!name) return RejectReason::utf8;
  const auto process = processes_.find(pid);
  Span& span = waiting_.emplace_back();
  span.start = time_from_ns(*start);
  span.duration = Nanos{*duration};
  span.step = integer_or(event.step_num, kNoStep);
  span.subject = subject_;
  span.name = symbols.intern(*name);
  span.phase = process != processes_.end() ? process->second : symbols.intern("Unknown");
  span.process = integer_or(event.args_pid, -1);
  span.thread = integer_or(thread_of(event), kNoThread);
  const SpanClass kind = classifier_.classify(symbols, span.phase, span.name, SpanKind::other);
  span.kind = kind.kind;
  span.mode = kind.mode;
  span.origin = Origin::profiler;
  last_end_ns_ = std::max(last_end_ns_, saturating_add(*start, *duration));
  return std::nullopt;
}

void TensorflowTraceDecoder::release(EventBatch& out) {
  for (Span& span : waiting_) {
    span.start = time_from_ns(saturating_add(to_ns(span.start), *start_ns_));
    out.push_back(span);
  }
  waiting_.clear();
}

void TensorflowTraceDecoder::end_of_document(EventBatch& out) {
  if (ended_ || records_ == 0) return;
  ended_ = true;
  if (!start_ns_) start_ns_ = find_start().value_or(0);
  release(out);
  out.push_back(SourceNote{time_from_ns(saturating_add(last_end_ns_, *start_ns_)), context_.lane,
                           SourceNote::Kind::cycle_complete});
}

void TensorflowTraceDecoder::state(StateIo& io) {
  splitter_.state(io);
  io(processes_);
  io(start_ns_);
  io(waiting_);
  io(looked_);
  io(ended_);
  io(last_end_ns_);
  io(records_);
}

}  // namespace trainwatch

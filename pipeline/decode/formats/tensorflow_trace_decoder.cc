// SPDX-License-Identifier: Apache-2.0
// TensorFlow profiler traces (…trace.json.gz). Every complete span is an event.
//
// Times count from a start that is only in the name of a `.metadata` file four directories up.
// While that file is missing the spans wait; if it is still missing at the end of the trace, the
// start is 0, as in SageMaker's own reader.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_kind.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/decode/remembered_token.h"
#include "pipeline/decode/symbol_reader.h"
#include "pipeline/decode/trace_document_decoder.h"
#include "pipeline/decode/trace_event.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxWaiting = std::size_t{1} << 16U;
constexpr std::size_t kMaxProcesses = 4096;

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class TensorflowTraceDecoder final : public TraceDocumentDecoder {
 public:
  explicit TensorflowTraceDecoder(const FileContext& context) : TraceDocumentDecoder(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void state(StateIo& io) override;

 private:
  Rejection read_event(std::string_view text) override;
  void read_path();
  std::optional<std::int64_t> find_start() const;
  Symbol phase_of(std::int64_t pid);
  void emit(Span span);
  void release(std::int64_t start_ns, EventBatch& out);
  void end_of_document(EventBatch& out);

  TraceEventReader reader_;
  SymbolReader names_{context_.interner.symbols};
  SpanClassifier classifier_;
  std::optional<SubjectId> subject_;  // nullopt: there is no room for it
  RepeatedInteger pid_;
  RepeatedInteger tid_;
  std::map<std::int64_t, Symbol> processes_;
  std::optional<std::pair<std::int64_t, Symbol>> latest_phase_;  // spans of a process come together
  EventBatch* out_ = nullptr;                                    // during feed()
  std::optional<std::int64_t> start_ns_;
  std::vector<Span> waiting_;        // with times as written
  bool looked_ = false;              // for the start time
  std::uint64_t records_ended_ = 0;  // those before the last note of the end
  std::int64_t last_end_ns_ = 0;     // as written
};

void TensorflowTraceDecoder::feed(std::string_view bytes, EventBatch& out) {
  if (!looked_) {
    looked_ = true;
    start_ns_ = find_start();
  }
  read_path();
  if (start_ns_) release(*start_ns_, out);
  out_ = &out;
  read_document(bytes);
  out_ = nullptr;
  // Rather spans on a wrong axis than memory without bounds.
  if (start_ns_ || waiting_.size() <= kMaxWaiting) return;
  start_ns_ = find_start().value_or(0);
  release(*start_ns_, out);
}

// Behind a restart this may be all there is to read: what a broken record at the end swallowed.
void TensorflowTraceDecoder::finish(EventBatch& out) {
  read_path();
  finish_document();
  end_of_document(out);
}

void TensorflowTraceDecoder::read_path() {
  Subject subject{context_.job, tensorflow_node(context_.path), context_.rank, ""};
  context_.fill_in(subject);
  subject_ = context_.interner.subjects.intern(subject);
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

Rejection TensorflowTraceDecoder::read_event(std::string_view text) {
  TraceEvent event;
  if (!reader_.read(text, event)) return RejectReason::syntax;
  SymbolTable& symbols = context_.interner.symbols;
  const std::int64_t pid = pid_.read(event.pid, 0);
  if (event.type() == 'M') {
    if (between_quotes(event.name) != "process_name") return std::nullopt;
    const auto name = names_.read(event.args_name);
    if (!name) return unreadable(event.args_name);
    if (processes_.size() >= kMaxProcesses) return RejectReason::cardinality;
    processes_[pid] = *name;
    latest_phase_.reset();
  }
  if (event.type() != 'X') return std::nullopt;
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(event.dur, TimeUnit::microseconds);
  if (!start || !duration || *duration < 0) return RejectReason::time;
  if (!is_string_token(event.name)) return RejectReason::type;
  const auto name = names_.read(event.name);
  if (!name) return unreadable(event.name);
  if (!subject_) return RejectReason::cardinality;
  Span span;
  span.start = time_from_ns(*start);
  span.duration = Nanos{*duration};
  span.step = integer_or(event.step_num, kNoStep);
  span.subject = *subject_;
  span.name = *name;
  span.phase = phase_of(pid);
  span.process = integer_or(event.args_pid, -1);
  span.thread = tid_.read(thread_of(event), kNoThread);
  const SpanClass kind = classifier_.classify(symbols, span.phase, span.name, SpanKind::other);
  span.kind = kind.kind;
  span.mode = kind.mode;
  span.origin = Origin::profiler;
  last_end_ns_ = std::max(last_end_ns_, saturating_add(*start, *duration));
  emit(span);
  return std::nullopt;
}

Symbol TensorflowTraceDecoder::phase_of(std::int64_t pid) {
  if (latest_phase_ && latest_phase_->first == pid) return latest_phase_->second;
  const auto process = processes_.find(pid);
  const Symbol phase =
      process != processes_.end() ? process->second : context_.interner.symbols.intern("Unknown");
  latest_phase_ = {pid, phase};
  return phase;
}

void TensorflowTraceDecoder::emit(Span span) {
  if (!start_ns_ || out_ == nullptr) return waiting_.push_back(span);
  span.start = time_from_ns(saturating_add(to_ns(span.start), *start_ns_));
  out_->emplace_back(std::in_place_type<Span>, span);
}

void TensorflowTraceDecoder::release(std::int64_t start_ns, EventBatch& out) {
  for (Span& span : waiting_) {
    span.start = time_from_ns(saturating_add(to_ns(span.start), start_ns));
    out.push_back(span);
  }
  waiting_.clear();
}

void TensorflowTraceDecoder::end_of_document(EventBatch& out) {
  if (records() == records_ended_) return;
  records_ended_ = records();
  if (!start_ns_) start_ns_ = find_start();
  const std::int64_t start_ns = start_ns_.value_or(0);  // more may follow, and be dated then
  release(start_ns, out);
  out.push_back(SourceNote{time_from_ns(saturating_add(last_end_ns_, start_ns)), context_.lane,
                           SourceNote::Kind::cycle_complete});
}

void TensorflowTraceDecoder::state(StateIo& io) {
  document_state(io);
  io(processes_);
  latest_phase_.reset();
  io(start_ns_);
  io(waiting_);
  io(looked_);
  io(records_ended_);
  io(last_end_ns_);
}

// Its metadata, or where TensorFlow and TensorBoard put their traces; a name of PyTorch's wins.
Detection detect_tensorflow_trace(const FormatClue& clue) {
  const bool here =
      (has_part(clue.path, "tensorflow/") || has_part(clue.path, "plugins/profile/")) &&
      !has_part(clue.path, ".pt.trace.json");
  // The root is damaged: as an array they are not written.
  if (clue.kind == FormatClue::Kind::event && here) return Detection::yes;
  if (clue.kind != FormatClue::Kind::member) return Detection::no;
  if (clue.key == "metadata") {
    if (!clue.value) return Detection::undecided;
    return has_part(*clue.value, "\"highres-ticks\"") ? Detection::yes : Detection::no;
  }
  return clue.key == "traceEvents" && here ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format tensorflow_trace_format = {.name = "tensorflow_trace",
                                               .detect = &detect_tensorflow_trace,
                                               .make = &make_decoder<TensorflowTraceDecoder>};

}  // namespace trainwatch

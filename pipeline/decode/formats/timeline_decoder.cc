// SPDX-License-Identifier: Apache-2.0
// SageMaker's timelines: python, model, horovod, smdataparallel, open or closed, and raw Horovod.
// Every complete span is emitted at once.
//
// State (phases by pid, open B events, start time) belongs to one file: each file repeats its own
// metadata, and pids mean different things in different files. A B/E pair that rotation cut in two
// is lost.
//
// Of its process it says when that began, which step it has begun, and how it ended. Counters are
// what the training logs: scalars, with the tag as their name.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_file/tagged_scalars.h"
#include "pipeline/decode/event_kind.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/decode/process_records.h"
#include "pipeline/decode/recurring_spans.h"
#include "pipeline/decode/remembered_token.h"
#include "pipeline/decode/run_naming.h"
#include "pipeline/decode/symbol_reader.h"
#include "pipeline/decode/trace_document_decoder.h"
#include "pipeline/decode/trace_event.h"
#include "trainwatch/run_note.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxPhases = 65536;
constexpr std::size_t kMaxOpenSpans = 1024;  // per phase
constexpr std::size_t kMaxOpenInAll = 65536;

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

// "host" of "host-4711" or "host-4711-2", as our hook names the timeline of the process 4711 if
// another process of its rank lives and writes one; empty: no such name.
std::string_view node_of_writer(std::string_view node, std::int64_t process) {
  const std::string suffix = "-" + std::to_string(process);
  if (node.ends_with(suffix)) return node.substr(0, node.size() - suffix.size());
  const std::size_t at = node.rfind(suffix + "-");
  const bool numbered = at != std::string_view::npos && at > 0 &&
                        parse_digits(node.substr(at + suffix.size() + 1)).has_value();
  return numbered ? node.substr(0, at) : std::string_view{};
}

// Whether a timeline of this rank and node lies beside the one at `path`, closed or open.
bool has_timeline_of(const FileContext& context, std::string_view path, std::int32_t rank,
                     std::string_view node) {
  if (!context.list_directory) return false;
  const std::string own = std::string(path.substr(0, path.find_last_of('/')));
  const std::size_t closed = own.rfind("/pevents/");
  for (const std::string& directory : {own, own.substr(0, closed)}) {
    for (const std::string& name : context.list_directory(directory)) {
      const NodeRank other = timeline_path_metadata(name);
      if (other.rank == rank && other.node == node) return true;
    }
  }
  return false;
}

class TimelineDecoder final : public TraceDocumentDecoder {
 public:
  explicit TimelineDecoder(const FileContext& context)
      : TraceDocumentDecoder(context), job_(context.job), scalars_(context) {}

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
    StringReader tags;
    RepeatedInteger step;
    RepeatedInteger process;
    RepeatedInteger thread;
  };

  Rejection read_event(std::string_view text) override;
  void rest_if_closed();

  Rejection metadata(std::string_view text, const TraceEvent& event);
  Rejection complete_span(std::string_view text, const TraceEvent& event);
  Rejection begin_span(const TraceEvent& event);
  Rejection end_span(const TraceEvent& event);
  Rejection instant(std::string_view text, const TraceEvent& event);
  Rejection counter(const TraceEvent& event);

  // The process began at this time, if nothing has said so yet.
  void process_began(std::int64_t start_ns, std::uint32_t world_size);
  void note(std::int64_t at_ns, RunNote note);
  bool begins_training_step(const TraceEvent& event);
  // What the event says, but for its times.
  Span span_of(const TraceEvent& event, Symbol phase, Symbol name);
  void emit(const Span& span, const RecurringSpans::Times& times);
  // What its arguments call the event, if they do.
  Symbol layer_of(const TraceEvent& event);
  // The phase of an event, made when it is new; null when the table is full.
  Phase* phase_of(const TraceEvent& event);
  void read_path();
  void name_subject();
  void name_run(std::string_view id);
  // The process with this id writes the file, and did at this time.
  void name_process(std::int64_t process, std::int64_t at_ns);

  std::unique_ptr<Habits> habits_;  // null: no record was read since the document was closed
  std::unique_ptr<RecurringSpans> recurring_;  // during feed(), if that is worth it
  EventBatch* out_ = nullptr;                  // during feed() and finish()
  std::string path_;                           // that subject_ was made from
  std::string job_;                            // of the run that writes the file
  bool says_run_ = false;                      // by its id
  std::int64_t process_ = -1;                  // that writes it, as its events say
  bool beside_another_ = false;                // the name of the file has that process
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
  bool process_known_ = false;     // it was said when the process began
  TaggedScalars scalars_;
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
  fallback_ = is_communication_timeline(path_) ? SpanKind::communication : SpanKind::other;
  names_training_ = base_name(path_).find("pythontimeline") != std::string_view::npos;
  name_subject();
}

void TimelineDecoder::name_subject() {
  const NodeRank source = timeline_path_metadata(path_);
  Subject subject{job_, source.node, source.rank, ""};
  if (beside_another_) subject.node = node_of_writer(source.node, process_);
  if (context_.rank != kNoRank) subject.rank = context_.rank;
  context_.fill_in(subject);
  if (subject.rank == kNoRank) subject.process = source.process;
  subject_ = context_.interner.subjects.intern(subject);
}

void TimelineDecoder::name_run(std::string_view id) {
  if (context_.naming == nullptr || !names_a_run(id)) return;
  job_ = context_.naming->job_of_run(id.substr(0, kLongestRun));
  says_run_ = true;
  name_subject();
}

void TimelineDecoder::name_process(std::int64_t process, std::int64_t at_ns) {
  if (process_ >= 0 || process < 0 || !names_training_) return;
  process_ = process;
  if (context_.naming == nullptr) return;
  const NodeRank source = timeline_path_metadata(path_);
  if (source.rank == kNoRank) return;
  FileWriter writer{source.node, source.rank, process_};
  bool other_file = false;
  const std::string_view node = node_of_writer(source.node, process_);
  if (!node.empty()) {
    writer.node = node;
    writer.named_after_process = true;
    other_file = has_timeline_of(context_, path_, source.rank, node);
    writer.other_file = other_file && !says_run_;  // else it may be of a run with another id
  }
  std::string job = context_.naming->job_of_writer(writer, time_from_ns(at_ns));
  beside_another_ = other_file || (!node.empty() && job != job_);
  job_ = std::move(job);
  name_subject();
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
      return metadata(text, event);
    case 'X':
      return complete_span(text, event);
    case 'B':
      return begin_span(event);
    case 'E':
      return end_span(event);
    case 'i':
      return instant(text, event);
    case 'C':
      return counter(event);
    default:
      return std::nullopt;  // flows, and "{}" at the end
  }
}

Rejection TimelineDecoder::metadata(std::string_view text, const TraceEvent& event) {
  if (recurring_ != nullptr) recurring_->clear();
  if (!event.start_time_us.empty()) {
    const auto start = parse_time_ns(event.start_time_us, TimeUnit::microseconds);
    if (!start) return RejectReason::time;
    start_time_ns_ = *start;
  }
  ++definitions_;
  if (between_quotes(event.name) == "process_labels") {
    name_run(between_quotes(event.run));
    const ProcessLabels labels = read_process_labels(text);
    if (labels.start_ns) name_process(labels.process, *labels.start_ns);
    if (!subject_) return RejectReason::cardinality;
    const bool older = !labels.start_ns && !process_known_ && names_training_;
    if (labels.start_ns) process_began(*labels.start_ns, labels.world_size);
    if (older && start_time_ns_ > 0) process_began(start_time_ns_, labels.world_size);
  }
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
  if (process_ < 0 && !event.args_pid.empty()) {
    name_process(habits_->process.read(event.args_pid, -1), saturating_add(*start, start_time_ns_));
  }
  if (!subject_) return RejectReason::cardinality;
  const Span span = span_of(event, phase->name, *name);
  // Writers that do not say when their process began repeat when they did.
  if (!process_known_ && names_training_ && start_time_ns_ > 0) process_began(start_time_ns_, 0);
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
  const bool full = open_spans_ >= kMaxOpenInAll;
  if (phase == nullptr || full || phase->open.size() >= kMaxOpenSpans)
    return RejectReason::cardinality;
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

// Other instants, as Horovod's, say nothing.
Rejection TimelineDecoder::instant(std::string_view text, const TraceEvent& event) {
  const std::string_view name = between_quotes(event.name);
  const bool ends = name == "process_end";
  if (!ends && (name != "begin" || !begins_training_step(event))) return std::nullopt;
  const auto at = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!at) return RejectReason::time;
  RunNote made;
  if (ends) {
    const Subject& subject = context_.interner.subjects[*subject_];
    made.kind =
        subject.rank == kNoRank ? RunNote::Kind::end_evidence : RunNote::Kind::process_ended;
    made.end = read_process_end(text);
    made.end->rank = subject.rank;
    made.end->node = subject.node;
    made.end->file = path_;
  } else {
    made.kind = RunNote::Kind::step_begun;
    made.step = integer_or(event.step_num, kNoStep);
  }
  note(saturating_add(*at, start_time_ns_), std::move(made));
  return std::nullopt;
}

// Other counters have no argument of this name.
Rejection TimelineDecoder::counter(const TraceEvent& event) {
  if (event.args_value.empty()) return std::nullopt;
  const auto at = parse_time_ns(event.ts, TimeUnit::microseconds);
  if (!at) return RejectReason::time;
  const auto value = number_in_json(event.args_value);
  if (!value || !is_string_token(event.name)) return RejectReason::type;
  const auto tag = habits_->tags.read(event.name);
  if (!tag) return unreadable(event.name);
  scalars_.begin(*subject_);
  const Time logged = time_from_ns(saturating_add(*at, start_time_ns_));
  scalars_.emit(*tag, *value, integer_or(event.args_step, kNoStep), logged, *out_);
  return std::nullopt;
}

bool TimelineDecoder::begins_training_step(const TraceEvent& event) {
  const Phase* const phase = phase_of(event);
  if (phase == nullptr || event.step_num.empty()) return false;
  const SpanClass kind =
      habits_->classifier.classify(context_.interner.symbols, phase->name, phase->name, fallback_);
  return kind.kind == SpanKind::step && kind.mode == Mode::train;
}

void TimelineDecoder::process_began(std::int64_t start_ns, std::uint32_t world_size) {
  if (std::exchange(process_known_, true)) return;
  RunNote made;
  made.kind = context_.interner.subjects[*subject_].rank == kNoRank ? RunNote::Kind::launched
                                                                    : RunNote::Kind::process_began;
  made.world_size = world_size;
  note(start_ns, std::move(made));
}

void TimelineDecoder::note(std::int64_t at_ns, RunNote note) {
  if (context_.run_notes == nullptr) return;
  note.at = time_from_ns(at_ns);
  note.subject = *subject_;
  out_->push_back(context_.run_notes->add(std::move(note)));
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
  io(process_known_);
  io(says_run_);
  io(process_);
  io(beside_another_);
  io(scalars_);
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

// SPDX-License-Identifier: Apache-2.0
// Files of the OpenTelemetry collector's file exporter: on each line one export of traces or of
// metrics, as JSON. A line has resources (processes, otlp_writers.h) with scopes with spans or
// metrics; what a training calls them is in training_names.h. Logs are passed over.
//
// A line counts when it has ended: the last one may be torn. It is read as a whole, so that it has
// kMaxRecordBytes at most; a span or a value that is damaged costs itself and one reject.
//
// Traces give Spans, and RunNotes of processes that begin; metrics and what spans report as their
// events give Scalars. Metrics have no step.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/otlp/otlp_json.h"
#include "pipeline/decode/otlp/otlp_metric.h"
#include "pipeline/decode/otlp/otlp_writers.h"
#include "pipeline/decode/otlp/training_names.h"
#include "pipeline/decode/symbol_reader.h"
#include "trainwatch/run_note.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostTags = 256;  // of scalars of a file; further ones are left out

// The raw text of the members of a span that are read.
struct OtlpSpanTokens {
  std::string_view name, start, end, attributes, events;

  explicit OtlpSpanTokens(std::string_view text) {
    each_member(text, [this](std::string_view key, std::string_view value) {
      if (key == "name") name = value;
      if (key == "startTimeUnixNano") start = value;
      if (key == "endTimeUnixNano") end = value;
      if (key == "attributes") attributes = value;
      if (key == "events") events = value;
    });
  }
};

std::int64_t step_in(std::string_view attributes) {
  std::int64_t step = kNoStep;
  each_attribute(attributes, [&step](std::string_view key, std::string_view value) {
    if (is_step_attribute(key)) step = std::max(integer_or(value, kNoStep), kNoStep);
  });
  return step;
}

class OtlpDecoder final : public Decoder {
 public:
  explicit OtlpDecoder(const FileContext& context)
      : context_(context), names_(context.interner.symbols), writers_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch&) override { finished_ = true; }
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    if (finished_) all.structure += lines_.rest().size();
    return all;
  }

 private:
  // The process that the parts of a resource come from.
  struct Source {
    OtlpResource resource;
    OtlpWriter& writer;

    SubjectId subject() const { return *writer.subject; }
  };

  void line(std::string_view text, EventBatch& out);
  Rejection resource(std::string_view text, EventBatch& out);
  void scopes(std::string_view list, const Source& source, EventBatch& out);

  Rejection span(std::string_view text, const Source& source, EventBatch& out);
  void note_stage(OtlpSpanMeaning meaning, const Span& span, const Source& source, EventBatch& out);
  void process_began(Time at, const Source& source, EventBatch& out);
  void add_note(RunNote note, const Source& source, EventBatch& out);
  Rejection report(std::string_view event, const Source& source);

  void metric(std::string_view text, const Source& source);
  Rejection point(const OtlpMetric& metric, const OtlpPoint& tokens, const Source& source);

  // To be emitted with the other scalars of its record.
  Rejection hold(std::string_view tag, Scalar scalar, SubjectId subject);
  void emit_held(EventBatch& out);
  void reject_if(Rejection reason, std::string_view text) {
    if (reason) context_.diagnostics.reject(context_.file, *reason, text);
  }

  const FileContext& context_;
  SymbolReader names_;
  OtlpWriters writers_;
  LineSplitter lines_;
  std::set<std::string, std::less<>> tags_;
  bool too_many_reported_ = false;
  std::vector<Scalar> held_;  // reused
  std::uint64_t records_ = 0;
  ByteAccount account_;
  bool finished_ = false;
};

void OtlpDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  lines_.feed(
      bytes, [&](std::string_view text) { line(text, out); },
      [&](std::string_view beginning) {
        context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
      });
}

// Nothing of a line that is broken anywhere is read.
void OtlpDecoder::line(std::string_view text, EventBatch& out) {
  const std::size_t bytes = text.size() + 1;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
    account_.structure += bytes;
    return;
  }
  if (!is_well_formed(text)) {
    account_.rejected += bytes;
    return reject_if(RejectReason::syntax, text);
  }
  bool known = false;
  each_member(text, [&](std::string_view key, std::string_view value) {
    if (key != "resourceSpans" && key != "resourceMetrics") return;
    known = true;
    each_element(value, [&](std::string_view each) { reject_if(resource(each, out), each); });
  });
  if (known) ++records_;
  (known ? account_.records : account_.structure) += bytes;
}

Rejection OtlpDecoder::resource(std::string_view text, EventBatch& out) {
  std::string_view attributes;
  std::string_view scope_list;
  each_member(text, [&](std::string_view key, std::string_view value) {
    if (key == "scopeSpans" || key == "scopeMetrics") scope_list = value;
    if (key != "resource") return;
    each_member(value, [&attributes](std::string_view name, std::string_view list) {
      if (name == "attributes") attributes = list;
    });
  });
  const OtlpResource resource = read_otlp_resource(attributes);
  OtlpWriter* const writer = writers_.find(resource);
  if (writer == nullptr) return RejectReason::cardinality;
  if (resource.process >= 0 && !resource.helper) {
    if (std::exchange(writer->process, resource.process) != resource.process) {
      writer->starting = false;
    }
  }
  scopes(scope_list, {resource, *writer}, out);
  emit_held(out);
  return std::nullopt;
}

void OtlpDecoder::scopes(std::string_view list, const Source& source, EventBatch& out) {
  each_element(list, [&](std::string_view scope) {
    each_member(scope, [&](std::string_view key, std::string_view value) {
      const bool spans = key == "spans";
      if (!spans && key != "metrics") return;
      each_element(value, [&](std::string_view text) {
        if (spans) return reject_if(span(text, source, out), text);
        metric(text, source);
      });
    });
  });
}

Rejection OtlpDecoder::span(std::string_view text, const Source& source, EventBatch& out) {
  const OtlpSpanTokens tokens(text);
  if (!is_string_token(tokens.name)) return RejectReason::type;
  const auto name = names_.read(tokens.name);
  if (!name) return unreadable(tokens.name);
  const auto start = otlp_time(tokens.start);
  const auto end = otlp_time(tokens.end);
  if (!start || !end || *end < *start) return RejectReason::time;
  each_element(tokens.events,
               [&](std::string_view event) { reject_if(report(event, source), event); });
  emit_held(out);
  OtlpSpanMeaning meaning;
  if (!source.resource.helper) meaning = meaning_of_otlp_span(between_quotes(tokens.name));
  Span span;
  span.start = *start;
  span.duration = *end - *start;
  span.step = step_in(tokens.attributes);
  span.subject = source.subject();
  span.name = span.phase = *name;
  span.process = source.resource.process;
  span.kind = meaning.kind;
  if (span.kind == SpanKind::step) span.mode = Mode::train;
  note_stage(meaning, span, source, out);
  out.emplace_back(std::in_place_type<Span>, span);
  return std::nullopt;
}

// Spans come when they end: of a checkpoint that is read within the startup, before the span that
// says that a process has begun.
void OtlpDecoder::note_stage(OtlpSpanMeaning meaning, const Span& span, const Source& source,
                             EventBatch& out) {
  OtlpWriter& writer = source.writer;
  if (meaning.stage == OtlpSpanMeaning::Stage::restore) {
    writer.restored_from = span.start;
    writer.restored = span.end();
    return;
  }
  if (meaning.stage == OtlpSpanMeaning::Stage::over) {
    out.emplace_back(
        SourceNote{span.end(), context_.lane, SourceNote::Kind::timeline_closed, source.subject()});
  }
  const bool startup = meaning.stage == OtlpSpanMeaning::Stage::startup;
  if (!startup && meaning.kind != SpanKind::step) return;
  if (startup && !std::exchange(writer.starting, true)) process_began(span.start, source, out);
  if (!startup) writer.starting = false;
  if (writer.restored == kNoTime) return;
  const double seconds = to_seconds(writer.restored - writer.restored_from);
  add_note({.at = writer.restored, .kind = RunNote::Kind::restored, .seconds = seconds}, source,
           out);
  writer.restored = writer.restored_from = kNoTime;
}

void OtlpDecoder::process_began(Time at, const Source& source, EventBatch& out) {
  const bool ranked = context_.interner.subjects[source.subject()].rank != kNoRank;
  if (source.writer.restored != kNoTime) at = std::min(at, source.writer.restored_from);
  add_note({.at = at,
            .kind = ranked ? RunNote::Kind::process_began : RunNote::Kind::launched,
            .world_size = source.resource.world_size},
           source, out);
}

void OtlpDecoder::add_note(RunNote note, const Source& source, EventBatch& out) {
  if (context_.run_notes == nullptr) return;
  note.subject = source.subject();
  out.emplace_back(context_.run_notes->add(std::move(note)));
}

// An event of a span: other names than those of reports are passed over.
Rejection OtlpDecoder::report(std::string_view event, const Source& source) {
  std::string_view name;
  std::string_view at_token;
  std::string_view attributes;
  each_member(event, [&](std::string_view key, std::string_view value) {
    if (key == "name") name = between_quotes(value);
    if (key == "timeUnixNano") at_token = value;
    if (key == "attributes") attributes = value;
  });
  if (name != kObjectiveEvent && name != kNumericsEvent) return std::nullopt;
  const auto at = otlp_time(at_token);
  if (!at) return RejectReason::time;
  const std::int64_t step = step_in(attributes);
  std::string_view objective;
  Rejection rejection;
  const auto add = [&](std::string_view tag, std::string_view value, ScalarKind kind) {
    const auto number = otlp_number(value);
    if (!number) return;
    const Scalar scalar{.at = *at, .value = *number, .step = step, .kind = kind, .timed = true};
    if (const Rejection why = hold(tag, scalar, source.subject())) rejection = why;
  };
  std::string_view objective_value;
  each_attribute(attributes, [&](std::string_view key, std::string_view value) {
    if (key == kObjectiveName) objective = between_quotes(value);
    if (key == kObjectiveValue) objective_value = value;
    if (name != kNumericsEvent || is_step_attribute(key) || !key.starts_with(kReportPrefix)) return;
    key.remove_prefix(kReportPrefix.size());
    add(key, value, kind_of_numeric(key));
  });
  if (!objective.empty()) add(objective, objective_value, kind_of_objective(objective));
  return rejection;
}

void OtlpDecoder::metric(std::string_view text, const Source& source) {
  const OtlpMetric metric = read_otlp_metric(text);
  const bool tracked = metric.meaning.counter != OtlpCounter::none;
  const bool level = metric.kind == OtlpMetric::Kind::gauge ||
                     (metric.kind == OtlpMetric::Kind::sum && !metric.monotonic);
  if (metric.name.empty()) return reject_if(RejectReason::type, text);
  if (!tracked && !level) return;
  each_element(metric.points, [&](std::string_view each) {
    reject_if(point(metric, read_otlp_point(each), source), each);
  });
}

Rejection OtlpDecoder::point(const OtlpMetric& metric, const OtlpPoint& tokens,
                             const Source& source) {
  const auto at = otlp_time(tokens.at);
  if (!at) return RejectReason::time;
  const std::string tag = tag_of(metric, tokens);
  if (metric.meaning.counter != OtlpCounter::none) {
    OtlpSum& before = source.writer.sums[static_cast<std::size_t>(metric.meaning.counter)];
    const auto scalar = counted_since(metric, tokens, *at, before);
    return scalar ? hold(tag, *scalar, source.subject()) : std::nullopt;
  }
  if (tokens.value.empty()) return std::nullopt;  // a point that says that there is no value
  const auto value = otlp_number(tokens.value);
  if (!value) return RejectReason::type;
  return hold(tag,
              {.at = *at,
               .value = *value * metric.meaning.scale,
               .kind = metric.meaning.kind,
               .timed = true},
              source.subject());
}

Rejection OtlpDecoder::hold(std::string_view tag, Scalar scalar, SubjectId subject) {
  tag = tag.substr(0, SymbolTable::kLongestName);
  if (!tags_.contains(tag)) {
    if (tags_.size() >= kMostTags) {
      return std::exchange(too_many_reported_, true) ? Rejection{} : RejectReason::cardinality;
    }
    tags_.emplace(tag);
  }
  scalar.subject = subject;
  scalar.tag = context_.interner.symbols.intern(tag);
  held_.push_back(scalar);
  return std::nullopt;
}

void OtlpDecoder::emit_held(EventBatch& out) {
  for (Scalar& scalar : held_) {
    scalar.ends_record = &scalar == &held_.back();
    out.emplace_back(std::in_place_type<Scalar>, scalar);
  }
  held_.clear();
}

void OtlpDecoder::state(StateIo& io) {
  std::vector<std::string> tags(tags_.begin(), tags_.end());
  io(tags);
  io(too_many_reported_);
  io(writers_);
  io(lines_);
  io(records_);
  io(account_);
  if (!io.is_loading()) return;
  if (tags.size() > kMostTags) return io.fail();
  tags_ = {tags.begin(), tags.end()};
}

// A member of each line, which has no others, and never of a document.
Detection detect_otlp(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::member) return Detection::no;
  const bool known =
      clue.key == "resourceSpans" || clue.key == "resourceMetrics" || clue.key == "resourceLogs";
  return known ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format otlp_format = {
    .name = "otlp", .lines = true, .detect = &detect_otlp, .make = &make_decoder<OtlpDecoder>};

}  // namespace trainwatch

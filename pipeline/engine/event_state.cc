#include "pipeline/engine/event_state.h"

#include <cstdint>

namespace trainwatch {
namespace {

enum class Kind : std::uint8_t { span, sample, step, none };

template <class Enum>
void enum_state(StateIo& io, Enum& field, Enum count) {
  Enum value = field;
  io(value);
  if (value >= count) io.fail();
  if (io.ok()) field = value;
}

void symbol_state(StateIo& io, Symbol& symbol, const Vocabulary& vocabulary) {
  enum_state(io, symbol, static_cast<Symbol>(vocabulary.symbols.size()));
}

void subject_state(StateIo& io, SubjectId& subject, const Vocabulary& vocabulary) {
  enum_state(io, subject, static_cast<SubjectId>(vocabulary.subjects.size()));
}

void origin_state(StateIo& io, Origin& origin) {
  bool profiler = origin == Origin::profiler;
  io(profiler);
  origin = profiler ? Origin::profiler : Origin::timeline;
}

void span_state(StateIo& io, Span& span, const Vocabulary& vocabulary) {
  io(span.start);
  io(span.duration);
  io(span.step);
  subject_state(io, span.subject, vocabulary);
  symbol_state(io, span.name, vocabulary);
  symbol_state(io, span.phase, vocabulary);
  io(span.worker);
  io(span.process);
  io(span.thread);
  enum_state(io, span.kind, SpanKind::count_);
  enum_state(io, span.mode, Mode::count_);
  origin_state(io, span.origin);
  enum_state(io, span.pin_memory, PinMemory::count_);
  io(span.num_workers);
  symbol_state(io, span.layer, vocabulary);
}

void step_state(StateIo& io, Step& step, const Vocabulary& vocabulary) {
  io(step.start);
  io(step.duration);
  io(step.data_wait);
  io(step.number);
  subject_state(io, step.subject, vocabulary);
  enum_state(io, step.mode, Mode::count_);
  origin_state(io, step.origin);
}

Kind kind_of(const Event& event) {
  if (std::holds_alternative<Span>(event)) return Kind::span;
  if (std::holds_alternative<Sample>(event)) return Kind::sample;
  return std::holds_alternative<Step>(event) ? Kind::step : Kind::none;
}

}  // namespace

void sample_state(StateIo& io, Sample& sample, const Vocabulary& vocabulary) {
  io(sample.at);
  io(sample.value);
  enum_state(io, sample.series, static_cast<SeriesId>(vocabulary.series.size()));
  enum_state(io, sample.resource, Resource::count_);
}

void event_state(StateIo& io, Event& event, const Vocabulary& vocabulary) {
  Kind kind = kind_of(event);
  enum_state(io, kind, Kind::none);
  if (!io.ok()) return;
  if (io.is_loading() && kind == Kind::span) event = Span{};
  if (io.is_loading() && kind == Kind::sample) event = Sample{};
  if (io.is_loading() && kind == Kind::step) event = Step{};
  if (auto* span = std::get_if<Span>(&event)) span_state(io, *span, vocabulary);
  if (auto* sample = std::get_if<Sample>(&event)) sample_state(io, *sample, vocabulary);
  if (auto* step = std::get_if<Step>(&event)) step_state(io, *step, vocabulary);
}

}  // namespace trainwatch

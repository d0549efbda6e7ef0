// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timestamps/event_time.h"

#include <cstdint>

namespace trainwatch {
namespace {

enum class Kind : std::uint8_t { span, sample, scalar, none };

template <class Enum>
void enum_state(StateIo& io, Enum& field, Enum count) {
  Enum value = field;
  io(value);
  if (value >= count) io.fail();
  if (io.ok()) field = value;
}

void origin_state(StateIo& io, Origin& origin) {
  bool profiler = origin == Origin::profiler;
  io(profiler);
  origin = profiler ? Origin::profiler : Origin::timeline;
}

Kind kind_of(const Event& event) {
  if (std::holds_alternative<Span>(event)) return Kind::span;
  if (std::holds_alternative<Sample>(event)) return Kind::sample;
  if (std::holds_alternative<Scalar>(event)) return Kind::scalar;
  return Kind::none;
}

std::string at(Time time) {
  return " at " + to_rfc3339(time);
}

std::string text_of(const Span& span, const Interner& interner) {
  std::string text = "span ";
  text += interner.text(span.name);
  if (span.step != kNoStep) text += ", step " + std::to_string(span.step) + ",";
  return text + at(span.start);
}

std::string text_of(const Sample& sample, const Interner& interner) {
  const Series& series = interner.series[sample.series];
  std::string text = "sample ";
  text += interner.text(series.dimension);
  text += ' ';
  text += interner.text(series.name);
  return text + " = " + std::to_string(sample.value) + at(sample.at);
}

std::string text_of(const Scalar& scalar, const Interner& interner) {
  std::string text = "scalar ";
  text += interner.text(scalar.tag);
  text += " = " + std::to_string(scalar.value);
  if (scalar.step != kNoStep) text += ", step " + std::to_string(scalar.step) + ",";
  return text + at(scalar.at);
}

void scalar_state(StateIo& io, Scalar& scalar) {
  io(scalar.at);
  io(scalar.value);
  io(scalar.step);
  io(scalar.subject);
  io(scalar.tag);
  io(scalar.steps);
  enum_state(io, scalar.kind, ScalarKind::count_);
  io(scalar.timed);
  io(scalar.guessed);
  io(scalar.of_epoch);
  io(scalar.ends_record);
  io(scalar.lane);
}

}  // namespace

void span_state(StateIo& io, Span& span) {
  io(span.start);
  io(span.duration);
  io(span.step);
  io(span.subject);
  io(span.name);
  io(span.phase);
  io(span.worker);
  io(span.process);
  io(span.thread);
  enum_state(io, span.kind, SpanKind::count_);
  enum_state(io, span.mode, Mode::count_);
  origin_state(io, span.origin);
  enum_state(io, span.pin_memory, PinMemory::count_);
  io(span.num_workers);
  io(span.layer);
}

void sample_state(StateIo& io, Sample& sample) {
  io(sample.at);
  io(sample.value);
  io(sample.series);
  enum_state(io, sample.resource, Resource::count_);
}

void event_state(StateIo& io, Event& event) {
  Kind kind = kind_of(event);
  enum_state(io, kind, Kind::none);
  if (!io.ok()) return;
  if (io.is_loading() && kind == Kind::span) event = Span{};
  if (io.is_loading() && kind == Kind::sample) event = Sample{};
  if (io.is_loading() && kind == Kind::scalar) event = Scalar{};
  if (auto* span = std::get_if<Span>(&event)) span_state(io, *span);
  if (auto* sample = std::get_if<Sample>(&event)) sample_state(io, *sample);
  if (auto* scalar = std::get_if<Scalar>(&event)) scalar_state(io, *scalar);
}

std::string event_text(const Event& event, const Interner& interner) {
  if (const auto* span = std::get_if<Span>(&event)) return text_of(*span, interner);
  if (const auto* sample = std::get_if<Sample>(&event)) return text_of(*sample, interner);
  if (const auto* scalar = std::get_if<Scalar>(&event)) return text_of(*scalar, interner);
  return "event";
}

}  // namespace trainwatch

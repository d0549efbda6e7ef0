// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/event_codec.h"

#include "pipeline/timestamps/event_time.h"

namespace trainwatch {
namespace {

enum class Form : std::uint8_t { whole_span, known_span, other };

bool differ_in_numbers_only(const Span& a, const Span& b) {
  return a.name == b.name && a.subject == b.subject && a.phase == b.phase && a.worker == b.worker &&
         a.process == b.process && a.thread == b.thread && a.kind == b.kind && a.mode == b.mode &&
         a.origin == b.origin && a.pin_memory == b.pin_memory && a.num_workers == b.num_workers &&
         a.layer == b.layer;
}

// Those of a span that differ from one to the next.
void numbers_state(StateIo& io, Span& span) {
  io(span.start);
  io(span.duration);
  io(span.step);
}

}  // namespace

// What usually differs between spans that are not alike.
std::uint8_t EventCodec::place_of(const Span& span) {
  std::uint32_t mixed = 0;
  for (const auto part :
       {static_cast<std::uint32_t>(span.name), static_cast<std::uint32_t>(span.phase),
        static_cast<std::uint32_t>(span.subject), static_cast<std::uint32_t>(span.worker)}) {
    mixed = (mixed + part) * 2'654'435'769U;
  }
  return static_cast<std::uint8_t>(mixed >> 24U);
}

void EventCodec::write(StateIo& io, const Span& span) {
  std::uint8_t place = place_of(span);
  std::optional<Known>& known = known_[place];
  const bool is_known = known && differ_in_numbers_only(known->span, span);
  Form form = is_known ? Form::known_span : Form::whole_span;
  io(form);
  io(place);
  Span copy = span;
  if (is_known) return numbers_state(io, copy);
  span_state(io, copy);
  known = {span};
}

void EventCodec::write(StateIo& io, Event event) {
  Form form = Form::other;
  io(form);
  event_state(io, event);
}

std::optional<Event> EventCodec::read(StateIo& io) {
  auto form = Form::other;
  io(form);
  Event event;
  if (form == Form::other) {
    event_state(io, event);
    return io.ok() && !io.take_gone() ? std::optional(event) : std::nullopt;
  }
  std::uint8_t place = 0;
  io(place);
  std::optional<Known>& known = known_[place];
  if (form == Form::whole_span) {
    Span span;
    span_state(io, span);
    known = {span, io.take_gone()};
  } else if (form == Form::known_span && known) {
    numbers_state(io, known->span);
  } else {
    io.fail();
  }
  if (!io.ok() || known->gone) return std::nullopt;
  return known->span;
}

}  // namespace trainwatch

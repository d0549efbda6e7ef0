// SPDX-License-Identifier: Apache-2.0
// The time of an event, its limits, and an event's saved form and description. Arithmetic
// saturates, because the times come from a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct EventTime {
  Time start{};
  Time end{};  // never before start
};

// No event of a training job is later than this: 2200-01-01.
inline constexpr Time kEndOfTime{
    std::chrono::sys_days{std::chrono::year{2200} / std::chrono::January / 1}};

// A negative duration counts as zero.
inline EventTime interval(Time start, Nanos duration) {
  const Nanos lasted = std::max(duration, Nanos{0});
  const bool fits = start.time_since_epoch() <= Nanos::max() - lasted;
  return {start, fits ? start + lasted : Time::max()};
}

// nullopt for notes and for scalars without a time of their own: these say nothing about when the
// events of their lane took place.
inline std::optional<EventTime> time_of(const Event& event) {
  if (const auto* sample = std::get_if<Sample>(&event)) return EventTime{sample->at, sample->at};
  if (const auto* span = std::get_if<Span>(&event)) return interval(span->start, span->duration);
  const auto* scalar = std::get_if<Scalar>(&event);
  if (scalar != nullptr && scalar->timed) return EventTime{scalar->at, scalar->at};
  return std::nullopt;
}

// Why this cannot be a time at all, whatever the other events say. Plausible times can be
// subtracted without overflow.
inline std::optional<RejectReason> implausible(EventTime time) {
  if (time.start < Time{}) return RejectReason::ts_past;
  if (time.end > kEndOfTime) return RejectReason::ts_future;
  return std::nullopt;
}

// How far the time of an event may be from the others of its lane.
struct TimestampFilterOptions {
  Nanos max_ahead = std::chrono::minutes{10};  // a larger jump forward needs confirmation
  Nanos lateness = std::chrono::seconds{60};   // so does a larger jump back
  Nanos min_hold{0};                           // minimum time that samples wait for sorting
  std::size_t agree = 8;                       // events that confirm a jump together
};

// A span explains a gap of up to this length; in a lane with few events, events further apart than
// this never count as neighbours.
inline constexpr Nanos kLongestPause = std::chrono::hours{24};

// Saves and loads an event.
void sample_state(StateIo& io, Sample& sample);
void span_state(StateIo& io, Span& span);

// Any event but a note; saving one fails.
void event_state(StateIo& io, Event& event);

// For the list of rejected records:
// "span Step:ModeKeys.TRAIN, step 12, at 2190-01-01T00:00:00.000000Z"
std::string event_text(const Event& event, const Interner& interner);

}  // namespace trainwatch

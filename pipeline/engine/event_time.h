// When an event happened. Arithmetic saturates: the times come from a file.
#pragma once

#include <algorithm>
#include <optional>

#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

struct EventTime {
  Time start{};
  Time end{};  // never before start
};

// No event of a training job is later than this: 2200-01-01.
inline constexpr Time kEndOfTime{
    std::chrono::sys_days{std::chrono::year{2200} / std::chrono::January / 1}};

// The end of something that is negative long is its start.
inline EventTime interval(Time start, Nanos duration) {
  const Nanos lasted = std::max(duration, Nanos{0});
  const bool fits = start.time_since_epoch() <= Nanos::max() - lasted;
  return {start, fits ? start + lasted : Time::max()};
}

// nullopt for notes and ticks, which are not about an event of their lane.
inline std::optional<EventTime> time_of(const Event& event) {
  if (const auto* sample = std::get_if<Sample>(&event)) return EventTime{sample->at, sample->at};
  if (const auto* span = std::get_if<Span>(&event)) return interval(span->start, span->duration);
  if (const auto* step = std::get_if<Step>(&event)) return interval(step->start, step->duration);
  return std::nullopt;
}

// Why this can be no time at all, whatever the others say. What passes may be subtracted freely.
inline std::optional<RejectReason> absurdity(EventTime time) {
  if (time.start < Time{}) return RejectReason::ts_past;
  if (time.end > kEndOfTime) return RejectReason::ts_future;
  return std::nullopt;
}

}  // namespace trainwatch

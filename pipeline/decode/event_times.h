// When an event of a profiler was, as its cycle keeps it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {

// CUPTI sometimes writes durations of centuries. HTA names this limit too: a week.
inline constexpr std::int64_t kLongestNs = 604'800'000'000'000;

struct EventTimes {
  std::int64_t start_ns = 0;  // as written
  std::int64_t duration_ns = 0;
};

// From "ts" and "dur" in microseconds. nullopt: the event is broken.
inline std::optional<EventTimes> event_times(std::string_view ts, std::string_view dur) {
  const auto start = parse_time_ns(ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(dur, TimeUnit::microseconds);
  if (!start || !duration || *duration > kLongestNs) return std::nullopt;
  return EventTimes{*start,
                    std::max<std::int64_t>(*duration, 0)};  // as the writer itself clamps it
}

// A time of the file on the clock of the world, within what ends can be reckoned with.
inline std::int64_t absolute_ns(std::int64_t ns, std::int64_t base_ns) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62U;
  return std::clamp(saturating_add(ns, base_ns), -kFar, kFar);
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// One event of a merged timeline: numbers for what merging decides, text for the rest.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/timeline/track_table.h"

namespace trainwatch {

struct TimelineEvent {
  static constexpr std::int64_t kNoDuration = -1;

  std::int64_t start_ns = 0;  // since the epoch
  std::int64_t duration_ns = kNoDuration;
  double value = 0;  // of a counter without other members
  TrackId track{};
  char type = 'X';        // "ph" of Chrome's format
  std::string_view name;  // a JSON string, with its quotes
  std::string_view rest;  // further members, each `, "key": value`

  std::int64_t end_ns() const {
    return duration_ns > 0 ? saturating_add(start_ns, duration_ns) : start_ns;
  }
};

// Receives events; their text is valid during the call only.
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  virtual void event(const TimelineEvent& event) = 0;
};

// Both ends are inside. An event belongs to it that touches it, as in SageMaker's MergedTimeline.
struct TimeWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  bool touches(std::int64_t start_ns, std::int64_t end_ns) const {
    return end_ns >= from_ns && start_ns <= to_ns;
  }
  bool touches(const TimelineEvent& event) const { return touches(event.start_ns, event.end_ns()); }
};

}  // namespace trainwatch

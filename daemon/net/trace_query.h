// SPDX-License-Identifier: Apache-2.0
// The requests for what ran in a span of time: GET /api/v1/timeline, /api/v1/annotations and
// /api/v1/alerts/ID/trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/result.h"

namespace trainwatch {

enum class TraceView : std::uint8_t { timeline, annotations, alert };

struct TraceQuery {
  enum class Unit : std::uint8_t { time, step };

  TraceView view = TraceView::timeline;
  std::optional<std::string> job{};     // nullopt: all, but of steps required if there are several
  std::optional<std::int64_t> start{};  // microseconds since the epoch, or a step
  std::optional<std::int64_t> end{};
  Unit unit = Unit::time;
  std::string alert{};  // its id, of TraceView::alert
  bool gzip = false;    // the client accepts it
};

inline constexpr std::string_view kTimelinePath = "/api/v1/timeline";
inline constexpr std::string_view kAnnotationsPath = "/api/v1/annotations";
inline constexpr std::string_view kAlertTraces = "/api/v1/alerts/";  // then ID/trace

// What `path` and the query after it ask for. The error says which parameter is wrong.
Result<TraceQuery> parse_trace_query(std::string_view path, std::string_view query);

}  // namespace trainwatch

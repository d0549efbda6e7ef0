// SPDX-License-Identifier: Apache-2.0
// The questions that the page's charts ask: GET /api/v1/steps, /api/v1/heatmap, /api/v1/histogram,
// /api/v1/scalars.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/analysis/history/chart_columns.h"
#include "trainwatch/result.h"

namespace trainwatch {

enum class ChartView : std::uint8_t {
  steps,
  last_steps,
  rank_map,
  usage_map,
  wall_time,
  step_histogram,
  usage_histogram,
  scalars
};

struct ChartQuery {
  ChartView view = ChartView::steps;
  std::optional<std::string> job{};  // required if there are several
  ChartRange range{};
  std::size_t last = 0;             // of last_steps; of scalars, 0: all that are kept
  std::vector<std::string> tags{};  // of scalars; empty: all
};

// What `path` and the query after it ask for. The error says which parameter is wrong.
Result<ChartQuery> parse_chart_query(std::string_view path, std::string_view query);

}  // namespace trainwatch

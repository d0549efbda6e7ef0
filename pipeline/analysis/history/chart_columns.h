// SPDX-License-Identifier: Apache-2.0
// The columns of a chart, chosen and merged from what a history keeps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pipeline/analysis/history/job_history.h"
#include "pipeline/analysis/history/time_columns.h"

namespace trainwatch {

// An interval of a chart, and into how many columns it is divided at most.
struct ChartRange {
  static constexpr std::size_t kMostColumns = 2000;

  Time from = Time{};
  Time to = Time::max();
  std::size_t columns = 500;  // 1..kMostColumns
  std::uint32_t attempt = 0;  // only iterations of this one; 0: of all
};

// Columns that have content, by start; each covers `width`.
template <class Column>
struct ColumnChart {
  Nanos width{};
  std::vector<std::pair<Time, Column>> columns{};
};

// The part of `range` that touches [from, to): nothing else would have columns.
inline ChartRange within(ChartRange range, Time from, Time to) {
  range.from = std::max(range.from, from);
  range.to = std::max(std::min(range.to, to), range.from);
  return range;
}

inline bool is_wanted(std::uint32_t attempt, const ChartRange& range) {
  return range.attempt == 0 || attempt == range.attempt;
}
// Others than those of steps do not know their attempt.
template <class Column>
bool is_wanted(const Column& column, const ChartRange& range) {
  if constexpr (requires { column.attempt; }) return is_wanted(column.attempt, range);
  return true;
}

// At most range.columns + 1, as they begin at multiples of their width.
template <class Column>
ColumnChart<Column> chart_of(const TimeColumns<Column>& kept, const ChartRange& range) {
  ColumnChart<Column> chart{kept.width()};
  if (kept.empty()) return chart;
  const ChartRange shown = within(range, kept.begin(), kept.end());
  const auto columns = static_cast<std::int64_t>(shown.columns);
  const std::int64_t wanted = (shown.to - shown.from) / kept.width();
  chart.width *= std::max<std::int64_t>((wanted + columns - 1) / columns, 1);
  kept.each(shown.from, shown.to, [&](Time start, const Column& column) {
    if (!is_wanted(column, range)) return;
    const Time begin{start.time_since_epoch() / chart.width * chart.width};
    if (chart.columns.empty() || chart.columns.back().first != begin) {
      chart.columns.emplace_back(begin, column);
    } else {
      chart.columns.back().second.merge(column);
    }
  });
  return chart;
}

// The iterations of the job, from whatever is finest there.
ColumnChart<StepColumn> step_chart(const JobHistory& job, const ChartRange& range);

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/chart_columns.h"

#include <map>
#include <vector>

namespace trainwatch {
namespace {

ColumnChart<StepColumn> single_steps(const JobHistory& job, const ChartRange& range, Nanos width) {
  std::map<Time, StepColumn> columns;
  for (const Step& step : job.steps()) {
    if (step.end() < range.from || step.end() >= range.to) continue;
    if (!is_wanted(step.attempt, range)) continue;
    StepColumn& column = columns[Time{step.end().time_since_epoch() / width * width}];
    column.add(StepFigures(step));
    if (step.data_wait > Nanos{}) column.add_load(step.data_wait);
  }
  return {width, {columns.begin(), columns.end()}};
}

bool log_covers(const JobHistory& job, Time from) {
  if (job.steps().empty()) return false;
  Time oldest = job.steps().front().end();
  for (const Step& step : job.steps()) oldest = std::min(oldest, step.end());
  return oldest <= std::max(from, job.first_end());
}

}  // namespace

ColumnChart<StepColumn> step_chart(const JobHistory& job, const ChartRange& range) {
  const auto levels = job.levels();
  const JobHistory::Steps& whole = *levels.back();
  if (whole.empty()) return {whole.width()};
  const ChartRange shown = within(range, whole.begin(), whole.end());
  const Nanos wanted = (shown.to - shown.from) / static_cast<std::int64_t>(shown.columns);
  if (wanted < levels.front()->width() && log_covers(job, shown.from))
    return single_steps(job, shown, std::max<Nanos>(wanted, std::chrono::microseconds(1)));
  const JobHistory::Steps* finest = &whole;
  for (const JobHistory::Steps* level : levels) {
    const bool covers = !level->empty() && level->begin() <= std::max(shown.from, job.first_end());
    if (covers && level->width() < finest->width()) finest = level;
  }
  ColumnChart<StepColumn> chart = chart_of(*finest, range);
  // Columns in which only waits have ended so far.
  std::erase_if(chart.columns,
                [](const auto& column) { return column.second.iterations.count() == 0; });
  return chart;
}

}  // namespace trainwatch

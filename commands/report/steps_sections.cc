// SPDX-License-Identifier: Apache-2.0
// The phases of the job, and its steps: statistics, durations over time, histograms.
#include <algorithm>

#include "commands/report/format.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kStatisticsShown = 60;

constexpr std::string_view kNoSteps =
    "These files have no steps of a SageMaker timeline. Two lines with python/trainwatch.py, or "
    "SageMaker's hook, write timelines below framework/. The rules evaluate steps of Kineto "
    "traces, but this section does not count them.";

void write_phase(TableWriter& table, std::string_view name, const JobPhases::Phase& phase) {
  table.begin_row();
  table.name(name);
  table.number(phase.duration_us, report_format::duration);
  table.number(phase.share, report_format::percent);
  table.end_row();
}

// What takes longest in all comes first.
void write_durations(HtmlWriter& html, std::string_view id, std::string_view caption,
                     std::vector<DurationRow> rows) {
  if (rows.empty()) return;
  const auto total = [](const DurationRow& row) {
    return row.mean_us.value_or(0) * row.count.value_or(0);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const DurationRow& a, const DurationRow& b) { return total(a) > total(b); });
  TableWriter table(html, id, caption,
                    {{"name"},
                     {"steps", true},
                     {"mean", true},
                     {"min", true},
                     {"p50", true},
                     {"p95", true},
                     {"p99", true},
                     {"max", true}});
  for (std::size_t i = 0; i < std::min(rows.size(), kStatisticsShown); ++i) {
    const DurationRow& row = rows[i];
    table.begin_row();
    table.name(row.name);
    table.number(row.count, report_format::count);
    for (const auto& duration :
         {row.mean_us, row.min_us, row.p50_us, row.p95_us, row.p99_us, row.max_us}) {
      table.number(duration, report_format::duration);
    }
    table.end_row();
  }
  table.end();
  write_left_out(html, rows.size(), kStatisticsShown, "rows");
}

}  // namespace

void write_phases(HtmlWriter& html, const ReportContent& content) {
  const JobPhases& phases = content.figures.phases_of_job;
  if (!phases.job_us) {
    write_nothing(html,
                  "The times of the job are unknown: there are neither system metrics nor "
                  "SageMaker timelines.");
    return;
  }
  html.open("p").text("From " + report_format::moment(phases.start_us.value_or(0)) + " to ");
  html.text(report_format::moment(phases.end_us.value_or(0)) + " UTC, ");
  write_figure(html, *phases.job_us, report_format::duration(*phases.job_us));
  html.text(". Framework: " + phases.framework + ".").close();
  if (!phases.training_loop.duration_us) {
    write_nothing(html, "The start of the training loop is unknown: training step 0 was not seen.");
    return;
  }
  TableWriter table(html, "job-phases", "", {{"phase"}, {"duration", true}, {"share", true}});
  write_phase(table, "initialization", phases.initialization);
  write_phase(table, "training loop", phases.training_loop);
  write_phase(table, "finalization", phases.finalization);
  table.end();
}

void write_step_statistics(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.step_phases.empty() && job.step_metrics.empty()) {
    write_nothing(html, kNoSteps);
    return;
  }
  write_durations(html, "step-phases", "Steps, by training phase", job.step_phases);
  write_durations(html, "step-processes", "Parts of a step, by process", job.step_processes);
  write_durations(html, "step-metrics", "Parts of a step, by name", job.step_metrics);
  if (job.steps_left_out > 0) {
    html.element(
        "p", report_format::count(job.steps_left_out) + " durations beyond 500 names are left out.",
        {{"class", "note"}});
  }
}

}  // namespace trainwatch

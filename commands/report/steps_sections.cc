// The phases of the job, and its steps: statistics, durations over time, histograms.
#include <algorithm>
#include <array>

#include "commands/report/format.h"
#include "commands/report/plot.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kStatisticsShown = 60;
constexpr std::size_t kRanksShown = 16;
constexpr std::size_t kStepHistogramsShown = 48;
constexpr std::size_t kRankShown = 80;

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

// Durations are known to 1 % where there are many (docs/analyses.md). Bins finer than that would be
// empty by turns.
BinCounts without_gaps(const BinCounts& fine) {
  constexpr double kExact = 1024;
  constexpr double kWidth = 0.02;  // of the duration
  if (fine.values <= kExact || fine.edges.size() != fine.counts.size() + 1) return fine;
  BinCounts coarse{fine.group, fine.series, {fine.edges.front()}, {}, fine.values};
  double count = 0;
  for (std::size_t i = 0; i < fine.counts.size(); ++i) {
    count += fine.counts[i];
    const bool wide = fine.edges[i + 1] - coarse.edges.back() >= kWidth * coarse.edges.back();
    if (!wide && i + 1 < fine.counts.size()) continue;
    coarse.edges.push_back(fine.edges[i + 1]);
    coarse.counts.push_back(count);
    count = 0;
  }
  return coarse;
}

void write_step_histograms(HtmlWriter& html, const std::vector<BinCounts>& histograms) {
  html.element("h3", "Distribution of step durations").open("div", {{"class", "grid"}});
  for (std::size_t i = 0; i < std::min(histograms.size(), kStepHistogramsShown); ++i) {
    const BinCounts& histogram = histograms[i];
    double shown = 0;
    for (const double count : histogram.counts) shown += count;
    std::string note = report_format::count(histogram.values) + " in all";
    if (shown == 0) note += ", all equally long";
    if (shown > 0 && shown < histogram.values) {
      note += ", " + report_format::count(histogram.values - shown) + " longer than shown";
    }
    const GroupName group = group_name(histogram.group);
    const std::string title = std::string(group.what) + " \xC2\xB7 " + std::string(group.where);
    draw_histogram(html, without_gaps(histogram), title, note, report_format::duration);
  }
  html.close();
  write_left_out(html, histograms.size(), kStepHistogramsShown, "histograms");
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
  const std::array<Share, 3> shares = {
      Share{"initialization", phases.initialization.share.value_or(0)},
      Share{"training loop", phases.training_loop.share.value_or(0)},
      Share{"finalization", phases.finalization.share.value_or(0)}};
  draw_share_bar(html, "Phases of the job", shares);
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

void write_step_durations(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.timeline.empty()) {
    write_nothing(html, kNoSteps);
    return;
  }
  const StepScale scale = step_scale(job.timeline);
  html.element("p", std::string("The last 1,000 steps of each rank, a dot per step, over the time "
                                "since the first of them. Rings: twice the median or more.") +
                        (scale.logarithmic ? " The scale of the durations is logarithmic." : ""));
  draw_phase_legend(html, job.phases);
  for (std::size_t i = 0; i < std::min(job.timeline.size(), kRanksShown); ++i) {
    html.open("figure", {{"class", "rank"}}).open("figcaption");
    write_name(html, job.timeline[i].rank, kRankShown);
    html.text(", " + report_format::count(static_cast<double>(job.timeline[i].steps.size())) +
              " steps");
    html.close();
    draw_steps(html, job.timeline[i], job.phases, scale);
    html.close();
  }
  write_left_out(html, job.timeline.size(), kRanksShown, "ranks");
  write_step_histograms(html, job.step_histograms);
}

}  // namespace trainwatch

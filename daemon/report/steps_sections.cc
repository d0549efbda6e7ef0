// The phases of the job, and its steps: statistics, durations over time, histograms.
#include <algorithm>
#include <array>
#include <numeric>

#include "daemon/report/figures.h"
#include "daemon/report/histogram_plot.h"
#include "daemon/report/sections.h"
#include "daemon/report/share_bar.h"
#include "daemon/report/step_plot.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kRowsShown = 60;
constexpr std::size_t kRanksShown = 16;
constexpr std::size_t kHistogramsShown = 48;
constexpr std::size_t kNameShown = 80;

constexpr std::string_view kNoSteps =
    "There are no steps of a SageMaker timeline in these files. SageMaker's hook, or "
    "python/trainwatch.py with two lines, writes timelines below framework/. Steps of Kineto "
    "traces "
    "are judged by the rules and do not count here.";

void write_phase(TableWriter& table, std::string_view name, const JobPhases::Phase& phase) {
  table.begin_row();
  table.name(name);
  table.number(phase.duration_us, figures::duration);
  table.number(phase.share, figures::percent);
  table.end_row();
}

// Rows by what takes longest; all tables of step_statistics have the same columns but the first.
void write_durations(HtmlWriter& html, std::string_view id, std::string_view caption,
                     const FigureTable& statistics) {
  if (statistics.rows.empty()) return;
  std::vector<std::size_t> order(statistics.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto total = [&](std::size_t row) {
    return statistics.number(row, "duration_mean_us").value_or(0) *
           statistics.number(row, "count").value_or(0);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return total(a) > total(b); });
  TableWriter table(html, id, caption,
                    {{"name"},
                     {"steps", true},
                     {"mean", true},
                     {"min", true},
                     {"p50", true},
                     {"p95", true},
                     {"p99", true},
                     {"max", true}});
  for (std::size_t i = 0; i < std::min(order.size(), kRowsShown); ++i) {
    table.begin_row();
    table.name(statistics.text(order[i], statistics.columns.front()));
    table.number(statistics.number(order[i], "count"), figures::count);
    for (const std::string_view column :
         {"duration_mean_us", "duration_min_us", "duration_p50_us", "duration_p95_us",
          "duration_p99_us", "duration_max_us"}) {
      table.number(statistics.number(order[i], column), figures::duration);
    }
    table.end_row();
  }
  table.end();
  write_left_out(html, order.size(), kRowsShown, "rows");
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

void write_histograms(HtmlWriter& html, const std::vector<BinCounts>& histograms) {
  html.element("h3", "How long steps take").open("div", {{"class", "grid"}});
  for (std::size_t i = 0; i < std::min(histograms.size(), kHistogramsShown); ++i) {
    const BinCounts& histogram = histograms[i];
    double shown = 0;
    for (const double count : histogram.counts) shown += count;
    std::string note = figures::count(histogram.values) + " in all";
    if (shown == 0) note += ", all equally long";
    if (shown > 0 && shown < histogram.values) {
      note += ", " + figures::count(histogram.values - shown) + " longer than shown";
    }
    const GroupName group = group_name(histogram.group);
    const std::string title = std::string(group.what) + " \xC2\xB7 " + std::string(group.where);
    draw_histogram(html, without_gaps(histogram), title, note, figures::duration);
  }
  html.close();
  write_left_out(html, histograms.size(), kHistogramsShown, "histograms");
}

}  // namespace

void write_phases(HtmlWriter& html, const ReportContent& content) {
  const JobPhases& phases = content.figures.phases_of_job;
  if (!phases.job_us) {
    write_nothing(html,
                  "There are no times of the job: neither system metrics nor SageMaker timelines.");
    return;
  }
  html.open("p").text("From " + figures::moment(phases.start_us.value_or(0)) + " to ");
  html.text(figures::moment(phases.end_us.value_or(0)) + " UTC, ");
  write_figure(html, *phases.job_us, figures::duration(*phases.job_us));
  html.text(". Framework: " + phases.framework + ".").close();
  if (!phases.training_loop.duration_us) {
    write_nothing(html,
                  "No training step 0 was seen, so where the training loop begins is not known.");
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
  if (job.step_phases.rows.empty() && job.step_metrics.rows.empty()) {
    write_nothing(html, kNoSteps);
    return;
  }
  write_durations(html, "step-phases", "Steps, by training phase", job.step_phases);
  write_durations(html, "step-processes", "Parts of a step, by process", job.step_processes);
  write_durations(html, "step-metrics", "Parts of a step, by name", job.step_metrics);
  if (job.steps_left_out > 0) {
    html.element("p",
                 figures::count(job.steps_left_out) + " durations beyond 500 names are left out.",
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
    write_name(html, job.timeline[i].rank, kNameShown);
    html.text(", " + figures::count(static_cast<double>(job.timeline[i].steps.size())) + " steps");
    html.close();
    draw_steps(html, job.timeline[i], job.phases, scale);
    html.close();
  }
  write_left_out(html, job.timeline.size(), kRanksShown, "ranks");
  write_histograms(html, job.step_histograms);
}

}  // namespace trainwatch

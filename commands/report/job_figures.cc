#include "commands/report/job_figures.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "commands/report/figure_reader.h"

namespace trainwatch {
namespace {

std::vector<DurationRow> read_durations(const FigureReader& statistics, std::string_view what) {
  return statistics.group(what).rows<DurationRow>({{what, &DurationRow::name},
                                                   {"count", &DurationRow::count},
                                                   {"duration_mean_us", &DurationRow::mean_us},
                                                   {"duration_min_us", &DurationRow::min_us},
                                                   {"duration_p50_us", &DurationRow::p50_us},
                                                   {"duration_p95_us", &DurationRow::p95_us},
                                                   {"duration_p99_us", &DurationRow::p99_us},
                                                   {"duration_max_us", &DurationRow::max_us}});
}

std::vector<UtilizationRow> read_utilization(const FigureReader& by_dimension) {
  return by_dimension.rows<UtilizationRow>({{"Resource", &UtilizationRow::resource},
                                            {"nodeID", &UtilizationRow::node},
                                            {"dimension", &UtilizationRow::dimension},
                                            {"system_metric", &UtilizationRow::metric},
                                            {"count", &UtilizationRow::count},
                                            {"utilization_mean", &UtilizationRow::mean},
                                            {"utilization_min", &UtilizationRow::min},
                                            {"utilization_p50", &UtilizationRow::p50},
                                            {"utilization_p95", &UtilizationRow::p95},
                                            {"utilization_p99", &UtilizationRow::p99},
                                            {"utilization_max", &UtilizationRow::max}});
}

std::vector<DeviceUsageRow> read_device_usage(const FigureReader& usage) {
  return usage.rows<DeviceUsageRow>({{"type", &DeviceUsageRow::type},
                                     {"nodeID", &DeviceUsageRow::node},
                                     {"(0, 10)", &DeviceUsageRow::idle},
                                     {"(10, 90)", &DeviceUsageRow::used},
                                     {"(90, 100)", &DeviceUsageRow::full}});
}

double sum(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

JobPhases read_phases(const FigureReader& job) {
  JobPhases phases;
  phases.framework = job.text("framework");
  phases.start_us = job.number("start_time_us");
  phases.end_us = job.number("end_time_us");
  phases.job_us = job.number("job_duration_us");
  phases.initialization = {job.number("initialization_us"), job.number("initialization_%")};
  phases.training_loop = {job.number("training_loop_duration_us"), job.number("training_loop_%")};
  phases.finalization = {job.number("finalization_us"), job.number("finalization_%")};
  return phases;
}

// The phase with the most steps becomes the first.
void order_phases(JobFigures& figures) {
  std::vector<std::size_t> steps(figures.phases.size());
  for (const StepSeries& rank : figures.timeline) {
    for (const StepSeries::Step& step : rank.steps) ++steps[step.phase];
  }
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return steps[a] > steps[b]; });
  std::vector<std::string> names;
  std::vector<std::size_t> place(order.size());
  for (const std::size_t phase : order) {
    place[phase] = names.size();
    names.push_back(std::move(figures.phases[phase]));
  }
  figures.phases = std::move(names);
  for (StepSeries& rank : figures.timeline) {
    for (StepSeries::Step& step : rank.steps) step.phase = place[step.phase];
  }
}

struct TimelineRow {
  std::optional<double> start_us;
  std::optional<double> duration_us;
  std::optional<double> step;
  std::string phase;
  std::string rank;
};

void read_timeline(const FigureReader& timeline, JobFigures& figures) {
  std::map<std::string, StepSeries> ranks;
  std::map<std::string, std::size_t> phases;
  const FigureReader::Columns<TimelineRow> columns = {{"start_time_us", &TimelineRow::start_us},
                                                      {"duration_us", &TimelineRow::duration_us},
                                                      {"step", &TimelineRow::step},
                                                      {"phase", &TimelineRow::phase},
                                                      {"nodeID", &TimelineRow::rank}};
  timeline.each_row<TimelineRow>(columns, [&](const TimelineRow& row) {
    const auto phase = phases.try_emplace(row.phase, figures.phases.size()).first;
    if (phase->second == figures.phases.size()) figures.phases.push_back(phase->first);
    ranks[row.rank].steps.push_back({row.start_us.value_or(0), row.duration_us.value_or(0),
                                     row.step.value_or(0), phase->second});
  });
  for (auto& [rank, series] : ranks) {
    series.rank = rank;
    figures.timeline.push_back(std::move(series));
  }
  order_phases(figures);
}

std::vector<BinCounts> read_step_histograms(const FigureReader& all) {
  std::vector<BinCounts> histograms;
  all.each_group([&](const std::string& group, const FigureReader& of) {
    histograms.push_back(
        {group, "", of.numbers("bin_edges_us"), of.numbers("counts"), of.value("n")});
  });
  return histograms;
}

std::vector<BinCounts> read_metric_histograms(const FigureReader& result) {
  std::vector<BinCounts> histograms;
  const std::vector<double> edges = result.numbers("bin_edges");
  result.group("histograms").each_group([&](const std::string& group, const FigureReader& all) {
    all.each_list([&](const std::string& series, std::vector<double> counts) {
      const double values = sum(counts);
      histograms.push_back({group, series, edges, std::move(counts), values});
    });
  });
  return histograms;
}

HeatMap read_heat_map(const FigureReader& result) {
  HeatMap map;
  map.width = static_cast<std::size_t>(result.value("width"));
  map.samples_per_column = result.value("samples_per_column");
  result.each_item("rows", [&](const FigureReader& row) {
    map.rows.push_back({row.text("nodeID"), row.text("dimension"), row.text("system_metric"),
                        row.numbers("values")});
  });
  return map;
}

CallFigures read_calls(const FigureReader& calls, std::string_view duration) {
  using Outlier = CallFigures::Outlier;
  return {calls.value("count"), calls.value("median_us"), calls.value("max_us"),
          calls.value("outlier_count"),
          calls.group("outliers")
              .rows<Outlier>({{"start_time_us", &Outlier::start_us},
                              {duration, &Outlier::duration_us},
                              {"worker_id", &Outlier::worker},
                              {"nodeID", &Outlier::rank}})};
}

std::vector<IteratorFigures> read_iterators(const FigureReader& all) {
  std::vector<IteratorFigures> iterators;
  all.each_group([&](const std::string& name, const FigureReader& of) {
    iterators.push_back({name, of.truth("pin_memory"), of.number("num_workers"),
                         read_calls(of.group("initializations"), "duration_us")});
  });
  return iterators;
}

std::vector<ProfileFigures::Function> read_functions(const FigureReader& table, bool cprofile) {
  using Function = ProfileFigures::Function;
  if (!cprofile) {
    return table.rows<Function>({{"file", &Function::file},
                                 {"line", &Function::line},
                                 {"function", &Function::name},
                                 {"self_time_ns", &Function::own_ns},
                                 {"total_time_ns", &Function::with_callees_ns}});
  }
  return table.rows<Function>({{"file", &Function::file},
                               {"line", &Function::line},
                               {"function", &Function::name},
                               {"ncalls", &Function::calls},
                               {"total_time_ns", &Function::own_ns},
                               {"cumulative_time_ns", &Function::with_callees_ns}});
}

void read_profiles(const FigureReader& result, JobFigures& figures) {
  for (const std::string_view profiler : {"cprofile", "pyinstrument"}) {
    for (const std::string_view part : {"before_step_zero", "training_loop", "after_hook_close"}) {
      const FigureReader of = result.group(profiler).group(part);
      const double profiles = of.value("profiles");
      auto functions = read_functions(of.group("top_functions"), profiler == "cprofile");
      if (profiles == 0) continue;
      figures.profiles.push_back(
          {std::string(profiler), std::string(part), profiles, std::move(functions)});
    }
  }
  result.each_item("rejected", [&](const FigureReader& file) {
    figures.rejected_profiles.push_back({file.text("path"), file.text("reason")});
  });
}

}  // namespace

GroupName group_name(std::string_view group) {
  constexpr std::string_view kBetween = "-nodeid:";
  const std::size_t at = group.find(kBetween);
  if (at == std::string_view::npos) return {group, {}};
  return {group.substr(0, at), group.substr(at + kBetween.size())};
}

Result<JobFigures> read_job_figures(const Figures& results) {
  std::optional<Error> error;
  const FigureReader all(results, "results", error);
  JobFigures figures;
  figures.phases_of_job = read_phases(all.group("job_statistics"));
  const FigureReader steps = all.group("step_statistics");
  figures.step_phases = read_durations(steps, "training_phase");
  figures.step_metrics = read_durations(steps, "framework_metric");
  figures.step_processes = read_durations(steps, "process");
  figures.steps_left_out = steps.value("left_out");
  read_timeline(all.group("step_timeline"), figures);
  figures.step_histograms = read_step_histograms(all.group("step_histogram"));
  figures.utilization = read_utilization(all.group("utilization_stats").group("by_dimension"));
  figures.device_usage = read_device_usage(all.group("device_usage_stats"));
  figures.metric_histograms = read_metric_histograms(all.group("metrics_histogram"));
  figures.heat_map = read_heat_map(all.group("heatmap"));
  figures.iterators = read_iterators(all.group("dataloader_initialization"));
  figures.workers = read_calls(all.group("dataloader_workers"), "duration_us");
  figures.getnext = read_calls(all.group("dataloader_getnext"), "duration_us");
  figures.batches = read_calls(all.group("batchtime"), "batch_time_us");
  read_profiles(all.group("python_profile"), figures);
  if (error) return *error;
  return figures;
}

std::vector<std::string> analyses_in_report() {
  return {"job_statistics",
          "step_statistics",
          "step_timeline",
          "step_histogram",
          "utilization_stats",
          "device_usage_stats",
          "metrics_histogram",
          "heatmap",
          "dataloader_initialization",
          "dataloader_workers",
          "dataloader_getnext",
          "batchtime",
          "python_profile"};
}

}  // namespace trainwatch

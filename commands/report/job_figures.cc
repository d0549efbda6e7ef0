// SPDX-License-Identifier: Apache-2.0
#include "commands/report/job_figures.h"

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
  figures.utilization = read_utilization(all.group("utilization_stats").group("by_dimension"));
  figures.device_usage = read_device_usage(all.group("device_usage_stats"));
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
          "utilization_stats",
          "device_usage_stats",
          "dataloader_initialization",
          "dataloader_workers",
          "dataloader_getnext",
          "batchtime",
          "python_profile"};
}

}  // namespace trainwatch

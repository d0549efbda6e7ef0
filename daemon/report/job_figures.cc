#include "daemon/report/job_figures.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "daemon/report/json_value.h"
#include "daemon/report/shown_text.h"

namespace trainwatch {
namespace {

std::string text_of(JsonValue value) {
  return value.text().value_or("");
}

FigureTable read_table(JsonValue value) {
  FigureTable table;
  value["columns"].each_item([&](JsonValue name) { table.columns.push_back(text_of(name)); });
  value["rows"].each_item([&](JsonValue row) {
    std::vector<FigureTable::Cell>& cells = table.rows.emplace_back();
    row.each_item([&](JsonValue cell) {
      if (const auto number = cell.number()) {
        cells.emplace_back(*number);
      } else if (auto text = cell.text()) {
        cells.emplace_back(std::move(*text));
      } else {
        cells.emplace_back();
      }
    });
  });
  return table;
}

std::vector<double> read_numbers(JsonValue value) {
  std::vector<double> numbers;
  value.each_item([&](JsonValue item) { numbers.push_back(item.number().value_or(0)); });
  return numbers;
}

double sum(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

JobPhases read_phases(JsonValue job) {
  JobPhases phases;
  phases.framework = text_of(job["framework"]);
  phases.start_us = job["start_time_us"].number();
  phases.end_us = job["end_time_us"].number();
  phases.job_us = job["job_duration_us"].number();
  phases.initialization = {job["initialization_us"].number(), job["initialization_%"].number()};
  phases.training_loop = {job["training_loop_duration_us"].number(),
                          job["training_loop_%"].number()};
  phases.finalization = {job["finalization_us"].number(), job["finalization_%"].number()};
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

// A timeline is long: its rows become steps at once.
void read_timeline(JsonValue value, JobFigures& figures) {
  const std::array<std::string_view, 5> names = {"start_time_us", "duration_us", "step", "phase",
                                                 "nodeID"};
  std::array<std::size_t, 5> place{};
  std::size_t at = 0;
  value["columns"].each_item([&](JsonValue column) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (text_of(column) == names[i]) place[i] = at;
    }
    ++at;
  });
  std::map<std::string, StepSeries> ranks;
  std::map<std::string, std::size_t> phases;
  value["rows"].each_item([&](JsonValue row) {
    std::vector<JsonValue> cells;
    row.each_item([&](JsonValue cell) { cells.push_back(cell); });
    const auto cell = [&](std::size_t i) {
      return place[i] < cells.size() ? cells[place[i]] : JsonValue();
    };
    const auto phase = phases.try_emplace(text_of(cell(3)), figures.phases.size()).first;
    if (phase->second == figures.phases.size()) figures.phases.push_back(phase->first);
    ranks[text_of(cell(4))].steps.push_back({cell(0).number().value_or(0),
                                             cell(1).number().value_or(0),
                                             cell(2).number().value_or(0), phase->second});
  });
  for (auto& [rank, series] : ranks) {
    series.rank = rank;
    figures.timeline.push_back(std::move(series));
  }
  order_phases(figures);
}

std::vector<BinCounts> read_step_histograms(JsonValue value) {
  std::vector<BinCounts> histograms;
  value.each_field([&](std::string_view group, JsonValue of) {
    histograms.push_back({std::string(group), "", read_numbers(of["bin_edges_us"]),
                          read_numbers(of["counts"]), of["n"].number().value_or(0)});
  });
  return histograms;
}

std::vector<BinCounts> read_metric_histograms(JsonValue value) {
  std::vector<BinCounts> histograms;
  const std::vector<double> edges = read_numbers(value["bin_edges"]);
  value["histograms"].each_field([&](std::string_view group, JsonValue all) {
    all.each_field([&](std::string_view series, JsonValue counts) {
      BinCounts histogram{std::string(group), std::string(series), edges, read_numbers(counts), 0};
      histogram.values = sum(histogram.counts);
      histograms.push_back(std::move(histogram));
    });
  });
  return histograms;
}

HeatMap read_heat_map(JsonValue value) {
  HeatMap map;
  map.width = static_cast<std::size_t>(value["width"].number().value_or(0));
  map.samples_per_column = value["samples_per_column"].number().value_or(1);
  value["rows"].each_item([&](JsonValue row) {
    map.rows.push_back({text_of(row["nodeID"]), text_of(row["dimension"]),
                        text_of(row["system_metric"]), read_numbers(row["values"])});
  });
  return map;
}

CallFigures read_calls(JsonValue value) {
  return {value["count"].number().value_or(0), value["median_us"].number().value_or(0),
          value["max_us"].number().value_or(0), value["outlier_count"].number().value_or(0),
          read_table(value["outliers"])};
}

std::vector<IteratorFigures> read_iterators(JsonValue value) {
  std::vector<IteratorFigures> iterators;
  value.each_field([&](std::string_view name, JsonValue of) {
    iterators.push_back({std::string(name), of["pin_memory"].truth(), of["num_workers"].number(),
                         read_calls(of["initializations"])});
  });
  return iterators;
}

void read_profiles(JsonValue value, JobFigures& figures) {
  for (const std::string_view profiler : {"cprofile", "pyinstrument"}) {
    for (const std::string_view part : {"before_step_zero", "training_loop", "after_hook_close"}) {
      const JsonValue of = value[profiler][part];
      const double profiles = of["profiles"].number().value_or(0);
      if (profiles == 0) continue;
      figures.profiles.push_back(
          {std::string(profiler), std::string(part), profiles, read_table(of["top_functions"])});
    }
  }
  figures.rejected_profiles.columns = {"path", "reason"};
  value["rejected"].each_item([&](JsonValue file) {
    figures.rejected_profiles.rows.push_back({text_of(file["path"]), text_of(file["reason"])});
  });
}

}  // namespace

GroupName group_name(std::string_view group) {
  constexpr std::string_view kBetween = "-nodeid:";
  const std::size_t at = group.find(kBetween);
  if (at == std::string_view::npos) return {group, {}};
  return {group.substr(0, at), group.substr(at + kBetween.size())};
}

Result<JobFigures> read_job_figures(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  // Names of files may be any bytes.
  if (const auto failure = parser.parse(repaired_utf8(json)).get(document)) {
    return Error{std::string("the analyses' results are no JSON: ") +
                 simdjson::error_message(failure)};
  }
  const JsonValue all(document);
  JobFigures figures;
  figures.phases_of_job = read_phases(all["job_statistics"]);
  const JsonValue steps = all["step_statistics"];
  figures.step_phases = read_table(steps["training_phase"]);
  figures.step_metrics = read_table(steps["framework_metric"]);
  figures.step_processes = read_table(steps["process"]);
  figures.steps_left_out = steps["left_out"].number().value_or(0);
  read_timeline(all["step_timeline"], figures);
  figures.step_histograms = read_step_histograms(all["step_histogram"]);
  figures.utilization = read_table(all["utilization_stats"]["by_dimension"]);
  figures.device_usage = read_table(all["device_usage_stats"]);
  figures.metric_histograms = read_metric_histograms(all["metrics_histogram"]);
  figures.heat_map = read_heat_map(all["heatmap"]);
  figures.iterators = read_iterators(all["dataloader_initialization"]);
  figures.workers = read_calls(all["dataloader_workers"]);
  figures.getnext = read_calls(all["dataloader_getnext"]);
  figures.batches = read_calls(all["batchtime"]);
  read_profiles(all["python_profile"], figures);
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

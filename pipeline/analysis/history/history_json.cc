// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/history_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "pipeline/analysis/history/chart_columns.h"
#include "pipeline/analysis/history/map_columns.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

using StepChart = ColumnChart<StepColumn>;

template <class Number>
void write_value(JsonWriter& json, Number value) {
  json.value(value);
}
template <class Number>
void write_value(JsonWriter& json, const std::optional<Number>& value) {
  value ? json.value(*value) : json.null();
}

// The member `name`: of each column what `value_of` says; nullopt is null.
template <class ValueOf>
void write_each(JsonWriter& json, std::string_view name, const StepChart& chart,
                ValueOf&& value_of) {
  json.key(name).begin_array();
  for (const auto& column : chart.columns) write_value(json, value_of(column.second));
  json.end_array();
}

float quantile(const StepColumn& column, double q) {
  const std::uint64_t last = column.iterations.count() - 1;
  const auto rank = static_cast<std::uint64_t>(std::llround(q * static_cast<double>(last)));
  return std::clamp(static_cast<float>(column.iterations.at(rank)), column.shortest,
                    column.longest);
}

void write_parts(JsonWriter& json, const StepChart& chart) {
  json.key("phases").begin_object();
  for (std::size_t part = 0; part < kIterationParts; ++part) {
    const auto has = [part](const auto& each) { return each.second.parts[part] > 0; };
    if (std::ranges::none_of(chart.columns, has)) continue;
    write_each(json, to_string(static_cast<IterationPart>(part)), chart,
               [part](const StepColumn& column) {
                 return column.parts[part] / static_cast<double>(column.iterations.count());
               });
  }
  json.end_object();
}

void write_loads(JsonWriter& json, const StepChart& chart) {
  json.key("getnext").begin_object();
  write_each(json, "count", chart, [](const StepColumn& column) { return column.loads; });
  write_each(json, "mean", chart, [](const StepColumn& column) {
    const auto loads = static_cast<double>(column.loads);
    return column.loads > 0 ? std::optional(column.load_seconds / loads) : std::nullopt;
  });
  write_each(json, "max", chart, [](const StepColumn& column) {
    return column.loads > 0 ? std::optional(column.longest_load) : std::nullopt;
  });
  json.end_object();
}

void write_marks(JsonWriter& json, const JobHistory& job, const ChartRange& range) {
  json.key("marks").begin_array();
  for (const HistoryMark& mark : job.marks()) {
    if (mark.end < range.from || mark.start >= range.to) continue;
    json.begin_object().field("kind", to_string(mark.kind));
    json.field("start_us", to_us(mark.start)).field("end_us", to_us(mark.end)).end_object();
  }
  json.end_array();
}

void write_time(JsonWriter& json, std::string_view name, Time time) {
  json.key(name);
  time == kNoTime ? json.null() : json.value(to_us(time));
}

std::optional<float> mean(const SlotColumn& column, std::size_t slot) {
  const std::uint32_t count = column.count(slot);
  if (count == 0) return std::nullopt;
  return column.sum(slot) / static_cast<float>(count);
}

std::optional<float> lost_share(const JobHistory::RankColumn& column, std::size_t slot) {
  const float elapsed = column.iterations.sum(slot);
  if (elapsed <= 0) return std::nullopt;
  const float lost = slot < column.lost.size() ? column.lost[slot] : 0;
  return std::min(lost / elapsed, 1.0F);
}

// Counts in bins whose upper bounds are `bounds`.
void write_group(JsonWriter& json, std::string_view name, const std::vector<double>& bounds,
                 const std::vector<std::uint64_t>& counts) {
  json.begin_object().field("name", name).key("bounds").begin_array();
  for (const double bound : bounds) json.value(bound);
  json.end_array().key("counts").begin_array();
  for (const std::uint64_t count : counts) json.value(count);
  json.end_array().end_object();
}

}  // namespace

std::string steps_json(const std::string& name, const JobHistory& job, const ChartRange& range) {
  const StepChart chart = step_chart(job, range);
  const JobHistory::Steps& whole = *job.levels().back();
  JsonWriter json;
  json.begin_object().field("job", name);
  write_time(json, "from_us", whole.empty() ? kNoTime : whole.begin());
  write_time(json, "to_us", whole.empty() ? kNoTime : whole.end());
  json.field("width_us", to_us(chart.width));
  json.key("columns").begin_object().key("t_us").begin_array();
  for (const auto& [start, column] : chart.columns) json.value(to_us(start));
  json.end_array();
  write_each(json, "steps", chart, [](const StepColumn& of) { return of.iterations.count(); });
  write_each(json, "last_step", chart, [](const StepColumn& of) {
    return of.last_step == kNoStep ? std::nullopt : std::optional(of.last_step);
  });
  write_each(json, "attempt", chart, [](const StepColumn& of) { return of.attempt; });
  write_each(json, "min", chart, [](const StepColumn& of) { return of.shortest; });
  constexpr std::pair<std::string_view, double> kQuantiles[] = {
      {"p5", 0.05}, {"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
  for (const auto& [title, q] : kQuantiles) {
    write_each(json, title, chart, [q = q](const StepColumn& of) { return quantile(of, q); });
  }
  write_each(json, "max", chart, [](const StepColumn& of) { return of.longest; });
  write_each(json, "evaluation", chart, [](const StepColumn& of) { return of.evaluation; });
  write_parts(json, chart);
  write_loads(json, chart);
  json.end_object();
  write_marks(json, job, range);
  return json.end_object().take();
}

std::string last_steps_json(const std::string& name, const JobHistory& job,
                            const Interner& interner, std::size_t count) {
  JsonWriter json;
  json.begin_object().field("job", name).key("columns").begin_array();
  for (const char* column : {"rank", "node", "step", "attempt", "mode", "end_us", "iteration",
                             "duration", "evaluation"}) {
    json.value(column);
  }
  for (std::size_t part = 0; part < kIterationParts; ++part)
    json.value(to_string(static_cast<IterationPart>(part)));
  json.end_array().key("rows").begin_array();
  const auto& steps = job.steps();
  for (std::size_t i = steps.size() - std::min(count, steps.size()); i < steps.size(); ++i) {
    const Step& step = steps[i];
    const Subject& subject = interner.subjects[step.subject];
    json.begin_array();
    subject.rank == kNoRank ? json.null() : json.value(subject.rank);
    json.value(subject.node);
    step.number == kNoStep ? json.null() : json.value(step.number);
    json.value(step.attempt).value(to_string(step.mode)).value(to_us(step.end()));
    json.value(to_seconds(step.iteration())).value(to_seconds(step.duration));
    json.value(to_seconds(step.evaluation));
    for (const Nanos part : parts_of(step)) json.value(to_seconds(part));
    json.end_array();
  }
  return json.end_array().end_object().take();
}

std::string rank_map_json(const std::string& name, const JobHistory& job, const Interner& interner,
                          const ChartRange& range) {
  const MapColumns columns(chart_of(job.ranks(), range));
  std::vector<std::pair<SubjectId, std::size_t>> rows;
  for (std::size_t slot = 0; slot < job.rank_slots().size(); ++slot) {
    if (job.rank_slots()[slot]) rows.emplace_back(*job.rank_slots()[slot], slot);
  }
  std::ranges::sort(rows, {}, [&](const auto& row) {
    const Subject& subject = interner.subjects[row.first];
    return std::tuple(subject.rank, subject.node, subject.process);
  });
  JsonWriter json;
  json.begin_object();
  columns.write_head(json, name, "ranks");
  json.key("rows").begin_array();
  for (const auto& [rank, slot] : rows) {
    const Subject& subject = interner.subjects[rank];
    json.begin_object().key("rank");
    subject.rank == kNoRank ? json.null() : json.value(subject.rank);
    json.field("node", writer_name(subject));
    columns.write_row(json, "values", [slot = slot](const JobHistory::RankColumn& column) {
      return mean(column.iterations, slot);
    });
    columns.write_row(json, "lost", [slot = slot](const JobHistory::RankColumn& column) {
      return lost_share(column, slot);
    });
    json.end_object();
  }
  return json.end_array().end_object().take();
}

std::string usage_map_json(const std::string& name, const JobHistory& job, const Interner& interner,
                           const ChartRange& range) {
  const MapColumns columns(chart_of(job.usage(), range));
  std::vector<std::pair<Series, std::size_t>> rows;
  for (std::size_t slot = 0; slot < job.series_slots().size(); ++slot) {
    if (job.series_slots()[slot])
      rows.emplace_back(interner.series[*job.series_slots()[slot]], slot);
  }
  std::ranges::sort(rows, {}, [&](const auto& row) {
    const Series& series = row.first;
    return std::tuple(interner.subjects[series.subject].node, history_kind(series.resource),
                      series.device, interner.text(series.name));
  });
  JsonWriter json;
  json.begin_object();
  columns.write_head(json, name, "utilization");
  json.key("rows").begin_array();
  for (const auto& [series, slot] : rows) {
    json.begin_object().field("node", interner.subjects[series.subject].node);
    json.field("resource", kHistoryResources[history_kind(series.resource)].second);
    json.field("device", interner.text(series.name));
    columns.write_row(json, "values",
                      [slot = slot](const SlotColumn& column) { return mean(column, slot); });
    json.end_object();
  }
  return json.end_array().end_object().take();
}

std::string step_histogram_json(const std::string& name, const JobHistory& job,
                                const ChartRange& range) {
  constexpr std::size_t kStepBins = 40;
  StepColumn all;
  for (const auto& [start, column] : step_chart(job, range).columns) all.merge(column);
  std::vector<double> bounds;
  std::vector<std::uint64_t> counts;
  if (all.iterations.count() > 0) {
    const auto shortest = static_cast<double>(all.shortest);
    // A job whose iterations are all alike has narrow bins still: it shows that they are.
    const double ratio = std::max(static_cast<double>(all.longest) / shortest, 1.5);
    for (std::size_t bin = 1; bin <= kStepBins; ++bin) {
      const double place = static_cast<double>(bin) / static_cast<double>(kStepBins);
      bounds.push_back(shortest * std::pow(ratio, place));
    }
    counts.resize(kStepBins);
    all.iterations.each([&](double value, std::uint64_t times) {
      const auto bound = std::ranges::lower_bound(bounds, value);
      const auto bin = static_cast<std::size_t>(bound - bounds.begin());
      counts[std::min(bin, kStepBins - 1)] += times;
    });
  }
  JsonWriter json;
  json.begin_object().field("job", name).field("what", "steps").key("groups").begin_array();
  if (!bounds.empty()) write_group(json, "train", bounds, counts);
  return json.end_array().end_object().take();
}

std::string usage_histogram_json(const std::string& name, const JobHistory& job) {
  JsonWriter json;
  json.begin_object().field("job", name).field("what", "utilization").key("groups").begin_array();
  std::vector<double> bounds;
  for (std::size_t bin = 1; bin <= JobHistory::kBins; ++bin) {
    bounds.push_back(100.0 * static_cast<double>(bin) / static_cast<double>(JobHistory::kBins));
  }
  for (std::size_t kind = 0; kind < kHistoryKinds; ++kind) {
    const JobHistory::Percents& counts = job.percents()[kind];
    if (std::ranges::all_of(counts, [](std::uint64_t count) { return count == 0; })) continue;
    write_group(json, kHistoryResources[kind].second, bounds, {counts.begin(), counts.end()});
  }
  return json.end_array().end_object().take();
}

}  // namespace trainwatch

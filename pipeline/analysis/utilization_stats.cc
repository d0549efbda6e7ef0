// How much of each resource was used, per node, and in each training phase.
#include <algorithm>
#include <array>
#include <string>

#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/phase_usage.h"
#include "pipeline/analysis/series_groups.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

bool has_devices(std::string_view type) {
  return type == "cpu" || type == "gpu";
}

// The devices of a node together; every other series for itself.
SeriesGroup devices_together(const Vocabulary& vocabulary, SeriesGroup of, const Series&) {
  if (has_devices(vocabulary.text(of.type))) of.name = Symbol::none;
  return of;
}

class UtilizationStats final : public Analysis {
 public:
  explicit UtilizationStats(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), groups_(vocabulary, devices_together), phases_(vocabulary) {}

  void on(const Event& event) override {
    if (const auto* sample = std::get_if<Sample>(&event)) {
      auto& [group, values] = groups_.of(sample->series);
      values.add(sample->value);
      phases_.on_sample(*sample, {group.type, group.node});
    } else if (const auto* span = std::get_if<Span>(&event)) {
      if (span->origin == Origin::timeline) phases_.on_step(*span);
    }
  }

  void state(StateIo& io) override {
    io(groups_);
    io(phases_);
  }

  void write(JsonWriter& json) const override {
    json.begin_object();
    json.key("by_node");
    write_by_node(json);
    json.key("by_phase");
    write_by_phase(json);
    json.field("left_out_of_phases", phases_.left_out());
    json.key("by_dimension");
    write_by_dimension(json);
    json.end_object();
  }

 private:
  // In SageMaker's order, then what it does not know by name.
  static std::pair<std::size_t, std::string> place_of(std::string_view type) {
    constexpr std::string_view kOrder[] = {"cpu", "gpu", "memory", "i/o", "network"};
    const auto* const found = std::find(std::begin(kOrder), std::end(kOrder), type);
    return {static_cast<std::size_t>(found - kOrder), std::string(type)};
  }

  void write_by_node(JsonWriter& json) const {
    using Key = std::pair<std::pair<std::size_t, std::string>, std::string>;
    std::map<Key, Distribution> merged;
    for (const auto& [group, values] : groups_.all()) {
      merged[{place_of(vocabulary_.text(group.type)), vocabulary_.subjects[group.node].node}].merge(
          values);
    }
    JsonTable table(json,
                    {"Resource", "nodeID", "utilization_mean", "utilization_min", "utilization_max",
                     "utilization_p50", "utilization_p95", "utilization_p99"});
    for (const auto& [key, values] : merged) {
      if (values.count() == 0) continue;
      const auto sorted = values.sorted();
      table.row(key.first.second, key.second, values.mean(), values.min(), values.max(),
                sorted.quantile(0.5), sorted.quantile(0.95), sorted.quantile(0.99));
    }
    table.end();
  }

  void write_by_phase(JsonWriter& json) const {
    using Key = std::pair<std::pair<std::size_t, std::string>, std::pair<std::string, std::string>>;
    const auto named = phases_.result();
    std::map<Key, const Distribution*> ordered;
    for (const auto& [key, values] : named) {
      const auto& [phase, resource] = key;
      ordered[{place_of(vocabulary_.text(resource.type)),
               {phase, vocabulary_.subjects[resource.node].node}}] = &values;
    }
    JsonTable table(json, {"Resource", "Training_phase", "nodeID", "utilization_mean",
                           "utilization_min", "utilization_max", "utilization_p50",
                           "utilization_p95", "utilization_p99", "count"});
    for (const auto& [key, values] : ordered) {
      if (values->count() == 0) continue;
      const auto sorted = values->sorted();
      table.row(key.first.second, key.second.first, key.second.second, values->mean(),
                values->min(), values->max(), sorted.quantile(0.5), sorted.quantile(0.95),
                sorted.quantile(0.99), values->count());
    }
    table.end();
  }

  void write_by_dimension(JsonWriter& json) const {
    using Key = std::pair<std::pair<std::size_t, std::string>, std::array<std::string, 3>>;
    std::map<Key, const Distribution*> ordered;
    for (const auto& [group, values] : groups_.all()) {
      ordered[{
          place_of(vocabulary_.text(group.type)),
          {vocabulary_.subjects[group.node].node, std::string(vocabulary_.text(group.dimension)),
           std::string(vocabulary_.text(group.name))}}] = &values;
    }
    JsonTable table(json, {"Resource", "nodeID", "dimension", "system_metric", "utilization_mean",
                           "utilization_min", "utilization_max", "utilization_p50",
                           "utilization_p95", "utilization_p99", "count"});
    for (const auto& [key, values] : ordered) {
      if (values->count() == 0) continue;
      const auto sorted = values->sorted();
      const auto& [node, dimension, name] = key.second;
      table.row(key.first.second, node, dimension, name, values->mean(), values->min(),
                values->max(), sorted.quantile(0.5), sorted.quantile(0.95), sorted.quantile(0.99),
                values->count());
    }
    table.end();
  }

  const Vocabulary& vocabulary_;
  SeriesGroups<Distribution> groups_;
  PhaseUsage phases_;
};

}  // namespace

extern const AnalysisSpec utilization_stats_spec = {
    "utilization_stats",
    "How much of each resource was used, per node, training phase and dimension",
    true,
    {SpanKind::step},
    make_analysis<UtilizationStats>};

}  // namespace trainwatch

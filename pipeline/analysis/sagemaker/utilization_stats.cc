// SPDX-License-Identifier: Apache-2.0
// How much of each resource was used: per node, in each training phase, per dimension; and how
// often CPU cores and GPUs were idle, used and saturated.
#include <algorithm>
#include <array>
#include <string>

#include "pipeline/analysis/sagemaker/phase_usage.h"
#include "pipeline/analysis/sagemaker/series_groups.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

bool has_devices(std::string_view type) {
  return type == "cpu" || type == "gpu";
}

// The devices of a node together; every other series for itself.
SeriesGroup devices_together(const Interner& interner, SeriesGroup of, const Series&) {
  if (has_devices(interner.text(of.type))) of.name = Symbol::none;
  return of;
}

class UtilizationStats final : public Analysis {
 public:
  explicit UtilizationStats(const Interner& interner)
      : interner_(interner), groups_(interner, devices_together), phases_(interner) {}

  void on_sample(const Sample& sample) override {
    auto& [group, values] = groups_.of(sample.series);
    values.add(sample.value);
    phases_.on_sample(sample, {group.type, group.node});
  }
  void on_span(const Span& step) override {
    if (step.origin == Origin::timeline) phases_.on_step(step);
  }

  void state(StateIo& io) override {
    io(groups_);
    io(phases_);
  }

  Figures figures() const override {
    Figures out;
    add_by_node(out.group("by_node"));
    add_by_phase(out.group("by_phase"));
    out.add("left_out_of_phases", phases_.left_out());
    add_by_dimension(out.group("by_dimension"));
    return out;
  }

 private:
  // In SageMaker's order, then what it does not know by name.
  static std::pair<std::size_t, std::string> place_of(std::string_view type) {
    constexpr std::string_view kOrder[] = {"cpu", "gpu", "memory", "i/o", "network"};
    const auto* const found = std::find(std::begin(kOrder), std::end(kOrder), type);
    return {static_cast<std::size_t>(found - kOrder), std::string(type)};
  }

  void add_by_node(Figures& out) const {
    using Key = std::pair<std::pair<std::size_t, std::string>, std::string>;
    std::map<Key, Distribution> merged;
    for (const auto& [group, values] : groups_.all()) {
      merged[{place_of(interner_.text(group.type)), interner_.subjects[group.node].node}].merge(
          values);
    }
    FigureTable& table =
        out.table({"Resource", "nodeID", "utilization_mean", "utilization_min", "utilization_max",
                   "utilization_p50", "utilization_p95", "utilization_p99"});
    for (const auto& [key, values] : merged) {
      if (values.count() == 0) continue;
      const auto sorted = values.sorted();
      table.row(key.first.second, key.second, values.mean(), values.min(), values.max(),
                sorted.quantile(0.5), sorted.quantile(0.95), sorted.quantile(0.99));
    }
  }

  void add_by_phase(Figures& out) const {
    using Key = std::pair<std::pair<std::size_t, std::string>, std::pair<std::string, std::string>>;
    const auto named = phases_.result();
    std::map<Key, const Distribution*> ordered;
    for (const auto& [key, values] : named) {
      const auto& [phase, resource] = key;
      ordered[{place_of(interner_.text(resource.type)),
               {phase, interner_.subjects[resource.node].node}}] = &values;
    }
    FigureTable& table = out.table({"Resource", "Training_phase", "nodeID", "utilization_mean",
                                    "utilization_min", "utilization_max", "utilization_p50",
                                    "utilization_p95", "utilization_p99", "count"});
    for (const auto& [key, values] : ordered) {
      if (values->count() == 0) continue;
      const auto sorted = values->sorted();
      table.row(key.first.second, key.second.first, key.second.second, values->mean(),
                values->min(), values->max(), sorted.quantile(0.5), sorted.quantile(0.95),
                sorted.quantile(0.99), values->count());
    }
  }

  void add_by_dimension(Figures& out) const {
    using Key = std::pair<std::pair<std::size_t, std::string>, std::array<std::string, 3>>;
    std::map<Key, const Distribution*> ordered;
    for (const auto& [group, values] : groups_.all()) {
      ordered[{place_of(interner_.text(group.type)),
               {interner_.subjects[group.node].node, std::string(interner_.text(group.dimension)),
                std::string(interner_.text(group.name))}}] = &values;
    }
    FigureTable& table = out.table(
        {"Resource", "nodeID", "dimension", "system_metric", "utilization_mean", "utilization_min",
         "utilization_max", "utilization_p50", "utilization_p95", "utilization_p99", "count"});
    for (const auto& [key, values] : ordered) {
      if (values->count() == 0) continue;
      const auto sorted = values->sorted();
      const auto& [node, dimension, name] = key.second;
      table.row(key.first.second, node, dimension, name, values->mean(), values->min(),
                values->max(), sorted.quantile(0.5), sorted.quantile(0.95), sorted.quantile(0.99),
                values->count());
    }
  }

  const Interner& interner_;
  SeriesGroups<Distribution> groups_;
  PhaseUsage phases_;
};

}  // namespace

const AnalysisSpec& utilization_stats_analysis() {
  static const AnalysisSpec spec = make_spec<UtilizationStats>(
      {.name = "utilization_stats",
       .summary = "How much of each resource was used, per node, training phase and dimension",
       .samples = every_resource(),
       .spans = {SpanKind::step}});
  return spec;
}

namespace {

struct UsageClasses {
  std::uint64_t idle = 0;   // 0..10 %
  std::uint64_t used = 0;   // 10..90 %
  std::uint64_t fully = 0;  // 90..100 %
};

SeriesGroup type_of_node(const Interner&, SeriesGroup of, const Series&) {
  return {of.node, of.type, Symbol::none, Symbol::none};
}

class DeviceUsageStats final : public Analysis {
 public:
  explicit DeviceUsageStats(const Interner& interner)
      : interner_(interner), groups_(interner, type_of_node) {}

  // A value on the edge of two ranges is in the upper one, as in SageMaker's.
  void on_sample(const Sample& sample) override {
    UsageClasses& usage = groups_.of(sample.series).second;
    if (sample.value >= 90 && sample.value <= 100) {
      ++usage.fully;
    } else if (sample.value >= 10 && sample.value < 90) {
      ++usage.used;
    } else if (sample.value >= 0 && sample.value < 10) {
      ++usage.idle;
    }
  }

  void state(StateIo& io) override { io(groups_); }

  Figures figures() const override {
    Figures out;
    std::map<std::pair<std::string, std::string>, UsageClasses> ordered;
    for (const auto& [group, usage] : groups_.all()) {
      const std::string type(interner_.text(group.type));
      if (type != "cpu" && type != "gpu") continue;
      ordered[{type, interner_.subjects[group.node].node}] = usage;
    }
    FigureTable& table = out.table({"type", "nodeID", "(0, 10)", "(10, 90)", "(90, 100)"});
    for (const auto& [key, usage] : ordered) {
      table.row(key.first, key.second, usage.idle, usage.used, usage.fully);
    }
    return out;
  }

 private:
  const Interner& interner_;
  SeriesGroups<UsageClasses> groups_;
};

}  // namespace

const AnalysisSpec& device_usage_stats_analysis() {
  static const AnalysisSpec spec = make_spec<DeviceUsageStats>(
      {.name = "device_usage_stats",
       .summary = "Samples of CPU cores and GPUs that were idle, in use and fully used",
       .samples = every_resource()});
  return spec;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// How much of each resource a node uses, all of its devices together; SageMaker's rule
// OverallSystemUsage, which is a report.
#include <algorithm>
#include <array>
#include <string>

#include "pipeline/analysis/sagemaker/series_groups.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

constexpr std::size_t kExact = 2048;  // times, for the quantiles

struct Quantity {
  std::string_view name;  // SageMaker's
  std::string_view type;  // empty: any
  std::string_view dimension;
  std::string_view metric;  // empty: any
  bool sum;                 // of what is there at a time; else the mean of the devices
};

constexpr std::array kQuantities = {
    Quantity{"Network", "", "Algorithm", "", true},
    Quantity{"GPU", "gpu", "GPUUtilization", "", false},
    Quantity{"CPU", "cpu", "CPUUtilization", "", false},
    Quantity{"CPU memory", "", "", "MemoryUsedPercent", false},
    Quantity{"GPU memory", "gpu", "GPUMemoryUtilization", "", false},
    Quantity{"I/O", "cpu", "I/OWaitPercentage", "", false},
};

// Null: the report does not have it.
const Quantity* quantity_of(const Interner& interner, const SeriesGroup& group) {
  const std::string_view type = interner.text(group.type);
  const std::string_view dimension = interner.text(group.dimension);
  const std::string_view metric = interner.text(group.name);
  const auto* const found =
      std::find_if(kQuantities.begin(), kQuantities.end(), [&](const Quantity& quantity) {
        return (quantity.type.empty() || quantity.type == type) &&
               quantity.dimension == dimension &&
               (quantity.metric.empty() || quantity.metric == metric);
      });
  return found == kQuantities.end() ? nullptr : found;
}

// The devices of a node together; all that is not reported in a group without a type.
SeriesGroup reported(const Interner& interner, SeriesGroup of, const Series&) {
  const Quantity* const quantity = quantity_of(interner, of);
  if (quantity == nullptr) return {};
  if (quantity->metric.empty()) of.name = Symbol::none;
  return of;
}

struct DeviceUsage {
  const Quantity* quantity = nullptr;  // not saved: found again with the next sample
  TickValues now;
  Distribution values{kExact};

  void add(const Sample& sample) {
    now.add(sample.at, sample.value, [this](double sum, std::uint64_t count) {
      values.add(quantity->sum ? sum : mean_of(sum, count));
    });
  }
  Distribution with_last(bool of_sums) const {
    Distribution all = values;
    now.last(
        [&](double sum, std::uint64_t count) { all.add(of_sums ? sum : mean_of(sum, count)); });
    return all;
  }
  void state(StateIo& io) {
    io(now);
    io(values);
  }
};

class OverallSystemUsage final : public Analysis {
 public:
  explicit OverallSystemUsage(const Interner& interner)
      : interner_(interner), groups_(interner, reported) {}

  void on_sample(const Sample& sample) override {
    auto& [group, usage] = groups_.of(sample.series);
    if (group == SeriesGroup{}) return;
    if (usage.quantity == nullptr) usage.quantity = quantity_of(interner_, group);
    usage.add(sample);
  }

  void state(StateIo& io) override { io(groups_); }

  Figures figures() const override {
    Figures out;
    FigureTable& table =
        out.table({"Resource", "nodeID", "max", "p99", "p95", "p50", "min", "count"});
    for (const Quantity& quantity : kQuantities) {
      for (const auto& [node, values] : nodes_of(quantity)) {
        if (values.count() == 0) continue;
        const auto sorted = values.sorted();
        const auto shown = [](double value) { return std::max(value, 0.0); };
        table.row(quantity.name, node, shown(values.max()), shown(sorted.quantile(0.99)),
                  shown(sorted.quantile(0.95)), shown(sorted.quantile(0.5)), shown(values.min()),
                  values.count());
      }
    }
    return out;
  }

 private:
  std::map<std::string, Distribution> nodes_of(const Quantity& quantity) const {
    std::map<std::string, Distribution> nodes;
    for (const auto& [group, usage] : groups_.all()) {
      if (group == SeriesGroup{} || quantity_of(interner_, group) != &quantity) continue;
      nodes[interner_.subjects[group.node].node].merge(usage.with_last(quantity.sum));
    }
    return nodes;
  }

  const Interner& interner_;
  SeriesGroups<DeviceUsage> groups_;
};

}  // namespace

const AnalysisSpec& overall_system_usage_analysis() {
  static const AnalysisSpec spec = make_spec<OverallSystemUsage>(
      {.name = "overall_system_usage",
       .summary = "How much of each resource a node uses, all of its devices together",
       .samples = every_resource()});
  return spec;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// How the values of each system series are distributed between 0 and 100, and their mean over the
// devices of a node.
#include <array>
#include <map>
#include <string>
#include <utility>

#include "pipeline/analysis/sagemaker/series_groups.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/compact_counts.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMetricBins = 50;
constexpr double kWidth = 2;

struct Bins {
  CompactCounts counts{kMetricBins};

  // The last bin has both its edges; what is outside of all is not counted.
  void add(double value) {
    if (!(value >= 0 && value <= kMetricBins * kWidth)) return;
    counts.add(std::min(static_cast<std::size_t>(value / kWidth), kMetricBins - 1), 1);
  }
  Figures::Counts figures() const {
    Figures::Counts out;
    for (std::size_t bin = 0; bin < kMetricBins; ++bin) out.push_back(counts[bin]);
    return out;
  }
  void state(StateIo& io) {
    std::array<std::uint64_t, kMetricBins> saved{};
    for (std::size_t bin = 0; bin < kMetricBins; ++bin) saved[bin] = counts[bin];
    io(saved);
    if (!io.is_loading()) return;
    counts = CompactCounts(kMetricBins);
    for (std::size_t bin = 0; bin < kMetricBins; ++bin) counts.add(bin, saved[bin]);
  }
};

// The devices of one node in one dimension: their values of the same time make one mean.
struct Total {
  TickValues now;
  Bins bins;

  void add(Time time, double value) {
    now.add(time, value,
            [this](double sum, std::uint64_t count) { bins.add(mean_of(sum, count)); });
  }
  Bins with_last() const {
    Bins all = bins;
    now.last([&](double sum, std::uint64_t count) { all.add(mean_of(sum, count)); });
    return all;
  }
};

SeriesGroup dimension_of_node(const Interner&, SeriesGroup of, const Series&) {
  return {of.node, Symbol::none, of.dimension, Symbol::none};
}

class MetricsHistogram final : public Analysis {
 public:
  explicit MetricsHistogram(const Interner& interner)
      : interner_(interner), series_(interner, each_series), totals_(interner, dimension_of_node) {}

  void on_sample(const Sample& sample) override {
    auto& [group, bins] = series_.of(sample.series);
    bins.add(sample.value);
    // Without a dimension there are series of different quantities, which have no mean.
    if (group.dimension == Symbol::none) return;
    totals_.of(sample.series).second.add(sample.at, sample.value);
  }

  void state(StateIo& io) override {
    io(series_);
    io(totals_);
  }

  Figures figures() const override {
    Figures out;
    std::map<std::string, std::map<std::string, Figures::Counts>> ordered;
    for (const auto& [group, bins] : series_.all()) {
      ordered[key_of(group)][std::string(interner_.text(group.name))] = bins.figures();
    }
    for (const auto& [group, total] : totals_.all()) {
      ordered[key_of(group)]["total"] = total.with_last().figures();
    }
    Figures::Numbers edges;
    for (std::size_t i = 0; i <= kMetricBins; ++i) edges.push_back(static_cast<double>(i) * kWidth);
    out.add("bin_edges", std::move(edges));
    Figures& histograms = out.group("histograms");
    for (auto& [key, names] : ordered) {
      Figures& of = histograms.group(key);
      for (auto& [name, counts] : names) of.add(name, std::move(counts));
    }
    return out;
  }

 private:
  std::string key_of(const SeriesGroup& group) const {
    return std::string(interner_.text(group.dimension)) +
           "-nodeid:" + interner_.subjects[group.node].node;
  }

  const Interner& interner_;
  SeriesGroups<Bins> series_;
  SeriesGroups<Total> totals_;
};

}  // namespace

const AnalysisSpec& metrics_histogram_analysis() {
  static const AnalysisSpec spec = make_spec<MetricsHistogram>(
      {.name = "metrics_histogram",
       .summary = "How often each system series had which value between 0 and 100",
       .samples = every_resource()});
  return spec;
}

}  // namespace trainwatch

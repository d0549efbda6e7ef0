// SPDX-License-Identifier: Apache-2.0
// The utilisation of every CPU core and GPU over the whole job, in a bounded number of columns.
#include <algorithm>
#include <string>
#include <vector>

#include "pipeline/analysis/sagemaker/series_groups.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kColumns = 256;

// Means of so many samples each; when there are too many, neighbours become one.
struct HeatmapRow {
  std::vector<double> columns;
  std::uint64_t samples_per_column = 1;
  double sum = 0;  // of the column that is being filled
  std::uint64_t samples = 0;

  void add(double value) {
    sum += value;
    if (++samples < samples_per_column) return;
    columns.push_back(sum / static_cast<double>(samples));
    sum = 0;
    samples = 0;
    if (columns.size() == kColumns) halve();
  }
  void coarsen(std::uint64_t to) {
    while (samples_per_column < to) halve();
  }
  void state(StateIo& io) {
    io(columns);
    io(samples_per_column);
    io(sum);
    io(samples);
    if (columns.size() >= kColumns || samples >= samples_per_column) io.fail();
  }

 private:
  void halve() {
    const std::size_t pairs = columns.size() / 2;
    if (columns.size() % 2 == 1) {
      sum += columns.back() * static_cast<double>(samples_per_column);
      samples += samples_per_column;
    }
    for (std::size_t i = 0; i < pairs; ++i) columns[i] = (columns[2 * i] + columns[2 * i + 1]) / 2;
    columns.resize(pairs);
    samples_per_column *= 2;
  }
};

// SageMaker's default: the dimensions of CPU and GPU.
bool is_shown(Resource resource) {
  return resource == Resource::cpu_utilization || resource == Resource::gpu_utilization ||
         resource == Resource::gpu_memory_utilization;
}

class Heatmap final : public Analysis {
 public:
  explicit Heatmap(const Interner& interner) : interner_(interner), rows_(interner, each_series) {}

  void on_sample(const Sample& sample) override {
    if (!is_shown(sample.resource) || !std::isfinite(sample.value)) return;
    rows_.of(sample.series).second.add(sample.value);
  }

  void state(StateIo& io) override { io(rows_); }

  Figures figures() const override {
    Figures out;
    std::uint64_t per_column = 1;
    for (const auto& [group, row] : rows_.all()) {
      per_column = std::max(per_column, row.samples_per_column);
    }
    Rows rows;
    std::size_t width = kColumns;
    for (const auto& [group, row] : rows_.all()) {
      width =
          std::min<std::size_t>(width, row.columns.size() / (per_column / row.samples_per_column));
      rows[interner_.subjects[group.node].node][std::string(interner_.text(group.dimension))]
          .emplace(interner_.text(group.name), &row);
    }
    if (rows.empty()) width = 0;
    out.add("width", width).add("samples_per_column", per_column);
    out.add("rows", with_totals(rows, per_column, width));
    return out;
  }

 private:
  using Columns = std::vector<double>;
  using Rows =
      std::map<std::string, std::map<std::string, std::map<std::string, const HeatmapRow*>>>;

  static Columns columns_of(const HeatmapRow& row, std::uint64_t per_column) {
    HeatmapRow even = row;
    even.coarsen(per_column);
    return std::move(even.columns);
  }

  class Mean {
   public:
    explicit Mean(std::size_t width) : sums_(width) {}
    void add(const Columns& columns) {
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += columns[i];
      ++count_;
    }
    Columns columns() const {
      Columns means = sums_;
      for (double& mean : means) mean /= static_cast<double>(count_);
      return means;
    }

   private:
    Columns sums_;
    std::size_t count_ = 0;
  };

  static Figures::Groups with_totals(const Rows& rows, std::uint64_t per_column,
                                     std::size_t width) {
    Figures::Groups out;
    std::map<std::string, Mean> of_all;  // nodes, by dimension
    for (const auto& [node, dimensions] : rows) {
      for (const auto& [dimension, names] : dimensions) {
        Mean of_node(width);
        for (const auto& [name, row] : names) {
          Columns columns = columns_of(*row, per_column);
          columns.resize(width);
          columns.shrink_to_fit();
          of_node.add(columns);
          out.push_back(figures_of(node, dimension, name, std::move(columns)));
        }
        Columns total = of_node.columns();
        of_all.try_emplace(dimension, width).first->second.add(total);
        out.push_back(figures_of(node, dimension, "total", std::move(total)));
      }
    }
    for (const auto& [dimension, mean] : of_all) {
      out.push_back(figures_of("node_total", dimension, "total", mean.columns()));
    }
    return out;
  }

  static Figures figures_of(const std::string& node, const std::string& dimension,
                            const std::string& name, Columns columns) {
    Figures row;
    row.add("nodeID", node).add("dimension", dimension).add("system_metric", name);
    row.add("values", std::move(columns));
    return row;
  }

  const Interner& interner_;
  SeriesGroups<HeatmapRow> rows_;
};

}  // namespace

const AnalysisSpec& heatmap_analysis() {
  static const AnalysisSpec spec =
      make_spec<Heatmap>({.name = "heatmap",
                          .summary = "Utilisation of every core and GPU over the job",
                          .samples = every_resource()});
  return spec;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// HTA's breakdown of the program's own annotations, on the host and on the GPU.
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/analysis/hta/cycle_results.h"
#include "pipeline/analysis/hta/durations_by_name.h"

namespace trainwatch {

std::vector<NameStats> annotations_by_name(const SelectedCycle& selected, bool on_device,
                                           std::size_t most) {
  std::vector<NamedDuration> durations;
  for (const AnnotationRow& row : selected.cycle().annotations) {
    if (row.on_device == on_device && selected.counts(row))
      durations.push_back({row.name, row.duration_ns});
  }
  return durations_by_name(selected.cycle().names, std::move(durations), most);
}

namespace {

constexpr std::size_t kMostAnnotations = 200;  // on a side in a cycle

struct CycleAnnotations {
  std::vector<NameStats> host;
  std::vector<NameStats> device;

  void state(StateIo& io) {
    named_durations_state(io, host, kMostAnnotations);
    named_durations_state(io, device, kMostAnnotations);
  }
};

class UserAnnotationBreakdown final : public CycleAnalysis<CycleAnnotations> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    add_side(out.group("user_annotation"), &CycleAnnotations::host);
    add_side(out.group("gpu_user_annotation"), &CycleAnnotations::device);
    add_left_out(out);
    return out;
  }

 protected:
  CycleAnnotations result_of(const SelectedCycle& selected) override {
    return {annotations_by_name(selected, false, kMostAnnotations),
            annotations_by_name(selected, true, kMostAnnotations)};
  }

 private:
  void add_side(Figures& out, std::vector<NameStats> CycleAnnotations::*side) const {
    FigureTable& table = out.table({"name", "count", "sum_ns", "max_ns", "min_ns", "stddev_ns",
                                    "mean_ns", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleAnnotations& cycle) {
      for (const auto& [name, of] : cycle.*side) {
        table.row(name, of.count, of.sum_ns, of.max_ns, of.min_ns, whole_ns(of.stddev_ns),
                  whole_ns(of.mean_ns), key.rank, key.cycle, key.node);
      }
    });
  }
};

}  // namespace

const AnalysisSpec& user_annotation_breakdown_analysis() {
  static const AnalysisSpec spec = make_spec<UserAnnotationBreakdown>(
      {.name = "user_annotation_breakdown",
       .summary = "How long the program's annotations took, on host and GPU"});
  return spec;
}

}  // namespace trainwatch

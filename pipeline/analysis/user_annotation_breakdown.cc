// HTA's breakdown of the program's own annotations, on the host and on the GPU.
#include <vector>

#include "pipeline/analysis/cycle_analysis.h"
#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/named_durations.h"
#include "pipeline/analysis/table_numbers.h"
#include "pipeline/cycle/annotation_breakdown.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostNames = 200;  // on a side in a cycle

struct CycleAnnotations {
  std::vector<NameStats> host;
  std::vector<NameStats> device;

  void state(StateIo& io) {
    named_durations_state(io, host, kMostNames);
    named_durations_state(io, device, kMostNames);
  }
};

class UserAnnotationBreakdown final : public CycleAnalysis<CycleAnnotations> {
 public:
  using CycleAnalysis::CycleAnalysis;

  void write(JsonWriter& json) const override {
    json.begin_object().key("user_annotation");
    write_side(json, &CycleAnnotations::host);
    json.key("gpu_user_annotation");
    write_side(json, &CycleAnnotations::device);
    end(json);
  }

 protected:
  CycleAnnotations result_of(const SelectedCycle& selected) override {
    return {annotations_by_name(selected, false, kMostNames),
            annotations_by_name(selected, true, kMostNames)};
  }

 private:
  void write_side(JsonWriter& json, std::vector<NameStats> CycleAnnotations::*side) const {
    JsonTable table(json, {"name", "count", "sum_ns", "max_ns", "min_ns", "stddev_ns", "mean_ns",
                           "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleAnnotations& cycle) {
      for (const auto& [name, of] : cycle.*side) {
        table.row(name, of.count, of.sum_ns, of.max_ns, of.min_ns, whole_ns(of.stddev_ns),
                  whole_ns(of.mean_ns), key.rank, key.cycle, key.node);
      }
    });
    table.end();
  }
};

}  // namespace

extern const AnalysisSpec user_annotation_breakdown_spec =
    cycle_analysis_spec<UserAnnotationBreakdown>(
        "user_annotation_breakdown", "How long the program's annotations took, on host and GPU");

}  // namespace trainwatch

// HTA's overlap of communication and computation.
#include "pipeline/cycle/comm_comp_overlap.h"

#include "pipeline/analysis/cycle_analysis.h"
#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/table_numbers.h"

namespace trainwatch {
namespace {

class CommCompOverlaps final : public CycleAnalysis<CommCompOverlap> {
 public:
  using CycleAnalysis::CycleAnalysis;

  void write(JsonWriter& json) const override {
    JsonTable table(json, {"rank", "comp_comm_overlap_pctg", "communication_time_ns",
                           "overlapped_time_ns", "cycle", "node"});
    results().each([&](const CycleKey& key, const CommCompOverlap& of) {
      table.row(key.rank, percentage(of.overlapped_ns, of.communication_ns, 2), of.communication_ns,
                of.overlapped_ns, key.cycle, key.node);
    });
    table.end_rows();
    end(json);
  }

 protected:
  CommCompOverlap result_of(const SelectedCycle& selected) override {
    return comm_comp_overlap(selected.cycle(), selected.rows());
  }
};

}  // namespace

extern const AnalysisSpec comm_comp_overlap_spec = cycle_analysis_spec<CommCompOverlaps>(
    "comm_comp_overlap", "How much of the GPUs' communication is hidden behind computation");

}  // namespace trainwatch

// HTA's temporal breakdown: how much of a device's time is computation, other work, and idle; of
// each cycle, and of each step in it.
#include "pipeline/cycle/temporal_breakdown.h"

#include <vector>

#include "pipeline/analysis/cycle_analysis.h"
#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/table_numbers.h"
#include "pipeline/cycle/comm_comp_overlap.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostSteps = 1024;  // of a cycle

struct StepBreakdown {
  std::int64_t number = 0;
  TemporalBreakdown times;
  CommCompOverlap overlap;
};

struct CycleBreakdown {
  TemporalBreakdown times;
  std::vector<StepBreakdown> steps;

  void state(StateIo& io) {
    io(times);
    io(steps);
    if (steps.size() > kMostSteps) io.fail();
  }
};

class TemporalBreakdowns final : public CycleAnalysis<CycleBreakdown> {
 public:
  using CycleAnalysis::CycleAnalysis;

  void write(JsonWriter& json) const override {
    JsonTable table(
        json, {"rank", "idle_time_ns", "compute_time_ns", "non_compute_time_ns", "kernel_time_ns",
               "idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleBreakdown& cycle) {
      const TemporalBreakdown& of = cycle.times;
      table.row(key.rank, of.idle_ns, of.compute_ns, of.non_compute_ns, of.kernel_ns,
                percentage(of.idle_ns, of.kernel_ns, 2), percentage(of.compute_ns, of.kernel_ns, 2),
                percentage(of.non_compute_ns, of.kernel_ns, 2), key.cycle, key.node);
    });
    table.end_rows();
    json.key("per_iteration");
    write_steps(json);
    end(json);
  }

 protected:
  CycleBreakdown result_of(const SelectedCycle& selected) override {
    CycleBreakdown found;
    found.times = temporal_breakdown(selected.cycle(), selected.rows());
    for (const StepWork& step : work_by_step(selected)) {
      found.steps.push_back({step.number, temporal_breakdown(selected.cycle(), step.rows),
                             comm_comp_overlap(selected.cycle(), step.rows)});
    }
    bound(found.steps, kMostSteps);
    return found;
  }

 private:
  void write_steps(JsonWriter& json) const {
    JsonTable table(json, {"iteration", "rank", "idle_time_ns", "compute_time_ns",
                           "non_compute_time_ns", "kernel_time_ns", "idle_time_pctg",
                           "compute_time_pctg", "non_compute_time_pctg", "comp_comm_overlap_pctg",
                           "communication_time_ns", "overlapped_time_ns", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleBreakdown& cycle) {
      for (const StepBreakdown& step : cycle.steps) {
        const TemporalBreakdown& of = step.times;
        table.row(step.number, key.rank, of.idle_ns, of.compute_ns, of.non_compute_ns, of.kernel_ns,
                  percentage(of.idle_ns, of.kernel_ns, 2),
                  percentage(of.compute_ns, of.kernel_ns, 2),
                  percentage(of.non_compute_ns, of.kernel_ns, 2),
                  percentage(step.overlap.overlapped_ns, step.overlap.communication_ns, 2),
                  step.overlap.communication_ns, step.overlap.overlapped_ns, key.cycle, key.node);
      }
    });
    table.end();
  }
};

}  // namespace

extern const AnalysisSpec temporal_breakdown_spec = cycle_analysis_spec<TemporalBreakdowns>(
    "temporal_breakdown", "How much of a GPU's time is computation, other work, and idle");

}  // namespace trainwatch

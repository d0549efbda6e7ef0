// SPDX-License-Identifier: Apache-2.0
// HTA's temporal breakdown and its overlap of communication and computation.
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/analysis/hta/cycle_results.h"
#include "pipeline/cycle/activity_sweep.h"

namespace trainwatch {

TemporalBreakdown temporal_breakdown(const CycleTrace& cycle, DeviceRows rows) {
  TemporalBreakdown found;
  sweep_activity(cycle, rows_by_start(cycle, {rows.begin(), rows.end()}),
                 [&found](const ActivitySegment& segment) {
                   const std::int64_t lasts = segment.end_ns - segment.start_ns;
                   found.kernel_ns += lasts;
                   if (segment.classes == 0) {
                     found.idle_ns += lasts;
                   } else if (segment.has(ActivityClass::computation)) {
                     found.compute_ns += lasts;
                   } else {
                     found.non_compute_ns += lasts;
                   }
                 });
  return found;
}

CommCompOverlap comm_comp_overlap(const CycleTrace& cycle, DeviceRows rows) {
  CommCompOverlap found;
  sweep_activity(cycle, rows_by_start(cycle, {rows.begin(), rows.end()}),
                 [&found](const ActivitySegment& segment) {
                   if (!segment.has(ActivityClass::communication)) return;
                   const std::int64_t lasts = segment.end_ns - segment.start_ns;
                   found.communication_ns += lasts;
                   if (segment.has(ActivityClass::computation)) found.overlapped_ns += lasts;
                 });
  return found;
}

namespace {

constexpr std::size_t kMostStepRows = 1024;  // of a cycle

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
    if (steps.size() > kMostStepRows) io.fail();
  }
};

class TemporalBreakdowns final : public CycleAnalysis<CycleBreakdown> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"rank", "idle_time_ns", "compute_time_ns",
                                    "non_compute_time_ns", "kernel_time_ns", "idle_time_pctg",
                                    "compute_time_pctg", "non_compute_time_pctg", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleBreakdown& cycle) {
      const TemporalBreakdown& of = cycle.times;
      table.row(key.rank, of.idle_ns, of.compute_ns, of.non_compute_ns, of.kernel_ns,
                percentage(of.idle_ns, of.kernel_ns, 2), percentage(of.compute_ns, of.kernel_ns, 2),
                percentage(of.non_compute_ns, of.kernel_ns, 2), key.cycle, key.node);
    });
    add_steps(out.group("per_iteration"));
    add_left_out(out);
    return out;
  }

 protected:
  CycleBreakdown result_of(const SelectedCycle& selected) override {
    CycleBreakdown found;
    found.times = temporal_breakdown(selected.cycle(), selected.rows());
    for (const StepActivity& step : activity_by_step(selected)) {
      found.steps.push_back({step.number, temporal_breakdown(selected.cycle(), step.rows),
                             comm_comp_overlap(selected.cycle(), step.rows)});
    }
    bound(found.steps, kMostStepRows);
    return found;
  }

 private:
  void add_steps(Figures& out) const {
    FigureTable& table = out.table(
        {"iteration", "rank", "idle_time_ns", "compute_time_ns", "non_compute_time_ns",
         "kernel_time_ns", "idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg",
         "comp_comm_overlap_pctg", "communication_time_ns", "overlapped_time_ns", "cycle", "node"});
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
  }
};

}  // namespace

const AnalysisSpec& temporal_breakdown_analysis() {
  static const AnalysisSpec spec = make_spec<TemporalBreakdowns>(
      {.name = "temporal_breakdown",
       .summary = "How much of a GPU's time is computation, other activity, and idle"});
  return spec;
}

namespace {

class CommCompOverlaps final : public CycleAnalysis<CommCompOverlap> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"rank", "comp_comm_overlap_pctg", "communication_time_ns",
                                    "overlapped_time_ns", "cycle", "node"});
    results().each([&](const CycleKey& key, const CommCompOverlap& of) {
      table.row(key.rank, percentage(of.overlapped_ns, of.communication_ns, 2), of.communication_ns,
                of.overlapped_ns, key.cycle, key.node);
    });
    add_left_out(out);
    return out;
  }

 protected:
  CommCompOverlap result_of(const SelectedCycle& selected) override {
    return comm_comp_overlap(selected.cycle(), selected.rows());
  }
};

}  // namespace

const AnalysisSpec& comm_comp_overlap_analysis() {
  static const AnalysisSpec spec = make_spec<CommCompOverlaps>(
      {.name = "comm_comp_overlap",
       .summary = "How much of the GPUs' communication is hidden behind computation"});
  return spec;
}

}  // namespace trainwatch

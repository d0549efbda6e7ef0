// SPDX-License-Identifier: Apache-2.0
// The steps that profilers recorded, of the last cycles of every rank: how long they took, what the
// device did meanwhile, and why it did nothing.
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/cycle/cycle_summary.h"
#include "trainwatch/release_memory.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxSteps = 512;  // of a cycle

struct CycleSteps {
  std::vector<StepSummary> steps;

  void state(StateIo& io) {
    io(steps);
    if (steps.size() > kMaxSteps) io.fail();
  }
};

class ProfilerSteps final : public CycleAnalysis<CycleSteps> {
 public:
  ProfilerSteps(const Interner& interner, StepSelection selection)
      : CycleAnalysis(interner, selection), selection_(selection) {}

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table(
        {"rank", "cycle", "step", "ts_ns", "dur_ns", "data_wait_ns", "compute_time_ns",
         "communication_time_ns", "exposed_memory_time_ns", "exposed_communication_time_ns",
         "exposed_other_time_ns", "idle_data_wait_time_ns", "idle_host_pause_time_ns",
         "idle_synchronization_time_ns", "idle_launch_time_ns", "idle_queued_time_ns", "node"});
    results().each([&table](const CycleKey& key, const CycleSteps& cycle) {
      for (const StepSummary& step : cycle.steps) {
        table.row(key.rank, key.cycle, step.number, step.start_ns, step.duration_ns,
                  step.data_wait_ns, step.computation_ns, step.communication_ns,
                  step.exposed_memory_ns, step.exposed_communication_ns, step.exposed_other_ns,
                  step.idle(IdleReason::data_wait), step.idle(IdleReason::host_pause),
                  step.idle(IdleReason::synchronization), step.idle(IdleReason::launch),
                  step.idle(IdleReason::queued), key.node);
      }
    });
    add_left_out(out);
    return out;
  }

 protected:
  CycleSteps result_of(const SelectedCycle& selected) override {
    CycleSteps found{summarize(selected).steps};
    if (selection_ == StepSelection::without_last && found.steps.size() > 1) found.steps.pop_back();
    std::erase_if(found.steps, [](const StepSummary& step) { return step.number == kNoStep; });
    bound(found.steps, kMaxSteps);
    for (StepSummary& step : found.steps) release_memory(step.collectives);
    found.steps.shrink_to_fit();
    return found;
  }

 private:
  StepSelection selection_;
};

}  // namespace

const AnalysisSpec& profiler_steps_analysis() {
  static const AnalysisSpec spec = make_spec<ProfilerSteps>(
      {.name = "profiler_steps",
       .summary = "The steps in the last cycles of a profiler, and where their time went"});
  return spec;
}

}  // namespace trainwatch

// A GPU that had nothing to do for much of a profiler cycle; see docs/rules/gpu_idle.md.
#include <string>

#include "rules/cycle_rule.h"
#include "rules/format.h"

namespace trainwatch::gpu_idle {
namespace {

struct Params {
  double info_percent = 20;
  double warning_percent = 50;
};

class GpuIdle final : public CycleRule {
 public:
  GpuIdle(const Params& params, const RuleContext&) : CycleRule(Needs::activity), params_(params) {}

 protected:
  std::optional<Verdict> judge(const CycleSummary& cycle) const override {
    std::int64_t idle_ns = 0;
    for (const StepSummary& step : cycle.steps) idle_ns += step.idle_sum_ns();
    const std::int64_t whole_ns = cycle.step_ns();
    if (whole_ns <= 0) return std::nullopt;
    const double percent = 100.0 * static_cast<double>(idle_ns) / static_cast<double>(whole_ns);
    if (percent < params_.info_percent) return std::nullopt;
    Verdict verdict;
    const bool severe = percent >= params_.warning_percent;
    verdict.severity = severe ? Severity::warning : Severity::info;
    verdict.step = cycle.steps.back().number;
    verdict.value = percent;
    verdict.threshold = severe ? params_.warning_percent : params_.info_percent;
    verdict.unit = "percent";
    verdict.summary = "The GPU was idle for " + format::percent(percent) + " of the " +
                      format::seconds(static_cast<double>(whole_ns) / 1e9) +
                      " that the profiler recorded.";
    verdict.cause = cycle_text::cause_of_idle(
        cycle,
        {IdleReason::data_wait, IdleReason::host_pause, IdleReason::synchronization,
         IdleReason::launch, IdleReason::queued},
        idle_ns);
    verdict.evidence = evidence(cycle, idle_ns);
    verdict.next = next_of(verdict.cause.name);
    return verdict;
  }

 private:
  static std::string evidence(const CycleSummary& cycle, std::int64_t idle_ns) {
    JsonWriter json;
    json.begin_object().field("steps", cycle.steps.size());
    json.field("step_seconds", static_cast<double>(cycle.step_ns()) / 1e9);
    json.field("idle_seconds", static_cast<double>(idle_ns) / 1e9);
    cycle_text::write_idle(json, cycle);
    return json.end_object().take();
  }

  static std::string next_of(CauseName cause) {
    switch (cause) {
      case CauseName::input_wait:
        return "Load data faster: more loader workers, prefetching, or cheaper transforms.";
      case CauseName::host_pause:
        return "Find what holds up the host: run garbage collection between steps, look for locks "
               "and other processes on its cores.";
      case CauseName::synchronization:
        return "Ask the GPU for values less often: .item(), .cpu() and printing a loss wait for "
               "it.";
      case CauseName::kernel_launch:
        return "Give the GPU more work per launch: larger batches, fused kernels, torch.compile or "
               "CUDA graphs.";
      default:
        return "See idle time by cause in the analysis profiler_steps, and the trace itself.";
    }
  }

  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<GpuIdle, Params>(
      {.id = "gpu_idle",
       .scope = Scope::rank,
       .summary = "A GPU was idle for much of a profiler cycle.",
       .doc =
           "The share of the step time of a cycle in which no stream was active, and why: what the "
           "host did during that time."},
      {field("info_percent", &Params::info_percent, 0, 100,
             "Percentage of the steps without GPU activity that is reported."),
       field("warning_percent", &Params::warning_percent, 0, 100, "The same, for a warning.")});
  return spec;
}

}  // namespace trainwatch::gpu_idle

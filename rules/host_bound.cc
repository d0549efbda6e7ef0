// SPDX-License-Identifier: Apache-2.0
// The GPU waits for the host in every step; see docs/rules/host_bound.md.
#include <array>
#include <string>

#include "rules/cycle_rule.h"
#include "rules/format.h"

namespace trainwatch::host_bound {
namespace {

struct Params {
  double threshold_percent = 6;
};

// Waits for data belong to input_bound.
constexpr std::array kHost = {IdleReason::host_pause, IdleReason::synchronization,
                              IdleReason::launch};
std::int64_t host_time(const StepSummary& step) {
  return step.idle(IdleReason::host_pause) + step.idle(IdleReason::synchronization) +
         step.idle(IdleReason::launch);
}

class HostBound final : public CycleRule {
 public:
  HostBound(const Params& params, const RuleContext&)
      : CycleRule(Needs::launched_activities), params_(params) {}

 protected:
  std::optional<Verdict> judge(const CycleSummary& cycle) const override {
    const double percent = median_percent(cycle.steps, host_time);
    if (percent < kStays * params_.threshold_percent) return std::nullopt;
    std::int64_t sum_ns = 0;
    for (const StepSummary& step : cycle.steps) sum_ns += host_time(step);
    Verdict verdict;
    verdict.step = cycle.steps.back().number;
    verdict.value = percent;
    verdict.threshold = params_.threshold_percent;
    verdict.unit = "percent";
    verdict.lost_seconds = static_cast<double>(sum_ns) / 1e9;
    verdict.summary = "The GPU waits for the host for " + format::percent(percent) + " of a step";
    verdict.cause = cycle_text::cause_of_idle(cycle, kHost, sum_ns);
    JsonWriter json;
    json.begin_object().field("steps", cycle.steps.size());
    json.field("step_seconds", static_cast<double>(cycle.step_ns()) / 1e9);
    json.field("launches", cycle.launches);
    cycle_text::write_idle(json, cycle);
    verdict.evidence = json.end_object().take();
    verdict.next = verdict.cause.name == CauseName::synchronization
                       ? "Ask the GPU for values less often: .item(), .cpu() and printing a loss "
                         "wait for it."
                       : "Do less on the host between launches: larger batches, fused kernels, "
                         "torch.compile or CUDA graphs, less Python in the step.";
    return verdict;
  }

 private:
  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<HostBound, Params>(
      {.id = "host_bound",
       .version = 3,
       .scope = Scope::rank,
       .summary = "The GPU waits for the host in every step.",
       .doc = "The share of a step in which no stream was active because the host had launched "
              "nothing: it was preparing the launch, had synchronised, or paused; the median over "
              "the steps of a cycle. Waits for data count for input_bound instead.",
       .incident = {.specificity = 55}},
      {field("threshold_percent", &Params::threshold_percent, 0, 100,
             "Percentage of a step that the GPU waits for the host.")});
  return spec;
}

}  // namespace trainwatch::host_bound

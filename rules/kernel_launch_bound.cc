// SPDX-License-Identifier: Apache-2.0
// Kernels are too small for their launches; see docs/rules/kernel_launch_bound.md.
#include <string>

#include "rules/cycle_rule.h"
#include "rules/format.h"

namespace trainwatch::kernel_launch_bound {
namespace {

struct Params {
  double threshold_percent = 6;
  double work_us = 50;
};

std::int64_t launch_time(const StepSummary& step) {
  return step.idle(IdleReason::launch);
}

double mean_seconds(std::int64_t sum_ns, std::uint64_t count) {
  return static_cast<double>(sum_ns) / static_cast<double>(count) / 1e9;
}

class KernelLaunchBound final : public CycleRule {
 public:
  KernelLaunchBound(const Params& params, const RuleContext&)
      : CycleRule(Needs::launched_activities), params_(params) {}

 protected:
  std::optional<Verdict> judge(const CycleSummary& cycle) const override {
    if (cycle.launches == 0) return std::nullopt;
    const double percent = median_percent(cycle.steps, launch_time);
    const double work = mean_seconds(cycle.launched_ns, cycle.launches);
    const double call = mean_seconds(cycle.launch_calls_ns, cycle.launches);
    const bool small = work * 1e6 < params_.work_us || work < call;
    if (percent < kStays * params_.threshold_percent || !small) return std::nullopt;
    Verdict verdict;
    verdict.step = cycle.steps.back().number;
    verdict.value = percent;
    verdict.threshold = params_.threshold_percent;
    verdict.unit = "percent";
    verdict.lost_seconds = static_cast<double>(cycle.idle(IdleReason::launch)) / 1e9;
    verdict.summary =
        "The GPU waits for the next launch for " + format::percent(percent) + " of a step";
    verdict.cause = {CauseName::kernel_launch,
                     percent / 100,
                     "A launch takes " + format::seconds(call) + " and starts " +
                         format::seconds(work) +
                         " of work on average, which is done before the next piece is launched.",
                     {}};
    verdict.evidence =
        JsonWriter{}
            .begin_object()
            .field("steps", cycle.steps.size())
            .field("launches", cycle.launches)
            .field("mean_work_seconds", work)
            .field("mean_call_seconds", call)
            .field("launches_shorter_than_their_call", cycle.short_launches)
            .field("idle_launch_seconds", static_cast<double>(cycle.idle(IdleReason::launch)) / 1e9)
            .end_object()
            .take();
    verdict.next =
        "Launch fewer and larger pieces: torch.compile or fused kernels, CUDA graphs, a larger "
        "batch, foreach or fused optimizers.";
    return verdict;
  }

 private:
  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<KernelLaunchBound, Params>(
      {.id = "kernel_launch_bound",
       .version = 3,
       .scope = Scope::rank,
       .summary = "GPU work is so short that it is done before the next is launched.",
       .doc =
           "The share of a step in which no stream had work while the host was on its way to the "
           "next launch (median over the steps of a cycle) is high, and what a launch starts is "
           "short on average: shorter than `work_us`, or than its call.",
       .incident = {.specificity = 58}},
      {field("threshold_percent", &Params::threshold_percent, 0, 100,
             "Percentage of a step that the GPU waits for the next launch."),
       field(
           "work_us", &Params::work_us, 0, 1000000,
           "Microseconds; work per launch below this is small, and so is what takes less than its "
           "call.")});
  return spec;
}

}  // namespace trainwatch::kernel_launch_bound

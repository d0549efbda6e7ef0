// SPDX-License-Identifier: Apache-2.0
// A GPU that works, but little, or alternates between busy and idle; see
// docs/rules/low_gpu_utilization.md.
#include <any>
#include <memory>

#include "rules/low_gpu_by_samples.h"
#include "rules/recent_low_gpu.h"
#include "trainwatch/rule.h"

namespace trainwatch::low_gpu_utilization {
namespace {

std::unique_ptr<Rule> make(const std::any& values, const RuleContext& context) {
  const auto& params = std::any_cast<const Params&>(values);
  if (params.window_seconds > 0) return std::make_unique<RecentLowGpu>(params, context);
  return std::make_unique<LowGpuBySamples>(params, context);
}

RuleSpec make_rule() {
  RuleSpec spec = make_spec<RecentLowGpu, Params>(
      {.id = "low_gpu_utilization",
       .version = 4,
       .scope = Scope::gpu,
       .summary = "A GPU is never fully used, or alternates between busy and idle.",
       .doc = "Over the last window_seconds of a GPU, if it worked throughout: 95 % of the time "
              "below threshold_p95 is under-utilised; busy at times and below threshold_p5 in "
              "several periods is fluctuating. With window_seconds 0, SageMaker's "
              "LowGPUUtilization: percentiles over the last `window` samples once more than "
              "`patience` were seen.",
       .samples = {Resource::gpu_utilization},
       .incident = {.specificity = 20, .slack = std::chrono::minutes(2)}},
      {field("threshold_p95", &Params::threshold_p95, 0, 100,
             "Percent; a 95th percentile below it is under-utilised."),
       field("threshold_p5", &Params::threshold_p5, 0, 100,
             "Percent; a 5th percentile below it is fluctuating."),
       field("window_seconds", &Params::window_seconds, 0, 3600,
             "Seconds in the window; 0: samples are counted, as SageMaker does.", {.code = 0}),
       field("warmup_seconds", &Params::warmup_seconds, 0, 3600,
             "Seconds of work required before the first evaluation."),
       field("recovery_seconds", &Params::recovery_seconds, 0, 3600,
             "Seconds without the condition that end the alert."),
       field("window", &Params::window, 10, 100000,
             "Samples in the window, if window_seconds is 0."),
       field("patience", &Params::patience, 0, 1000000,
             "Samples required before the first evaluation, if window_seconds is 0."),
       field("recovery_samples", &Params::recovery_samples, 1, 1000000,
             "Consecutive samples without the condition that end the alert, if window_seconds is "
             "0.")});
  spec.make = make;
  return spec;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_rule();
  return spec;
}

}  // namespace trainwatch::low_gpu_utilization

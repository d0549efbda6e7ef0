// SPDX-License-Identifier: Apache-2.0
// GPUs idle while a CPU core is saturated; see docs/rules/cpu_bottleneck.md.
#include <any>
#include <memory>

#include "rules/bottleneck.h"
#include "rules/recent_bottleneck.h"

namespace trainwatch::cpu_bottleneck {
namespace {

constexpr BottleneckKind kKind{
    .cause = CauseName::cpu_saturation,
    .count_field = "high_cpu_snapshots",
    .above = "a CPU core was above",
    .explained = "a CPU core was saturated.",
    .next =
        "Move work off the saturated core: more data loading workers, cheaper or GPU-side "
        "preprocessing, fewer Python calls per step, or a machine with more cores per GPU."};

std::unique_ptr<Rule> make(const std::any& values, const RuleContext& context) {
  const auto& params = std::any_cast<const Params&>(values);
  if (params.window_seconds > 0) return std::make_unique<RecentBottleneck>(params, context);
  const BottleneckParams whole_history{.threshold = params.threshold,
                                       .gpu_threshold = params.gpu_threshold,
                                       .core_threshold = params.core_threshold,
                                       .patience = params.patience,
                                       .recovery_snapshots = params.recovery_snapshots};
  return std::make_unique<Bottleneck>(kKind, whole_history, context);
}

RuleSpec make_rule() {
  RuleSpec spec = make_spec<RecentBottleneck, Params>(
      {.id = "cpu_bottleneck",
       .version = 3,
       .scope = Scope::node,
       .summary = "GPUs are idle while a CPU core is saturated.",
       .doc = "Samples of a node within 20 ms make a snapshot; a snapshot with a working GPU below "
              "gpu_threshold and a core above cpu_threshold is a bottleneck. Fires when more than "
              "`threshold` percent of the snapshots of the last window_seconds were bottlenecks. "
              "With window_seconds 0, SageMaker's CPUBottleneck: over the whole history, once more "
              "than `patience` snapshots were seen.",
       .samples = {Resource::cpu_utilization, Resource::gpu_utilization},
       .incident = {.specificity = 44, .slack = std::chrono::minutes(2)}},
      {field("threshold", &Params::threshold, 0, 100,
             "Percentage of the snapshots that are bottlenecks.", {.code = 50}),
       field("gpu_threshold", &Params::gpu_threshold, 0, 100,
             "A GPU below this utilisation (percent) is idle."),
       field("cpu_threshold", &Params::core_threshold, 0, 100,
             "A core above this utilisation (percent) is saturated."),
       field("window_seconds", &Params::window_seconds, 0, 3600,
             "Seconds in the window; 0: the whole history, as SageMaker does.", {.code = 0}),
       field("warmup_seconds", &Params::warmup_seconds, 0, 3600,
             "Seconds of work required before the first evaluation."),
       field("recovery_seconds", &Params::recovery_seconds, 0, 3600,
             "Seconds without the condition that end the alert."),
       field("patience", &Params::patience, 0, 1000000,
             "Snapshots required before the first evaluation, if window_seconds is 0.",
             {.docs = 100}),
       field("recovery_snapshots", &Params::recovery_snapshots, 1, 1000000,
             "Consecutive snapshots at or below the threshold that end the alert, if "
             "window_seconds is 0.")});
  spec.make = make;
  return spec;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_rule();
  return spec;
}

}  // namespace trainwatch::cpu_bottleneck

// GPUs idle while a CPU core is saturated; SageMaker's CPUBottleneck, see
// docs/rules/cpu_bottleneck.md.
#include "rules/bottleneck.h"

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

class CpuBottleneck final : public Bottleneck {
 public:
  CpuBottleneck(const BottleneckParams& params, const RuleContext& context)
      : Bottleneck(kKind, params, context) {}
};

}  // namespace

const RuleSpec& rule() {
  using Params = BottleneckParams;
  static const RuleSpec spec = make_spec<CpuBottleneck, Params>(
      {.id = "cpu_bottleneck",
       .scope = Scope::node,
       .summary = "GPUs are idle while a CPU core is saturated.",
       .doc = "SageMaker's CPUBottleneck: samples of a node within 20 ms make a snapshot; a "
              "snapshot with a GPU below gpu_threshold and a core above cpu_threshold is a "
              "bottleneck. Fires when more than `patience` snapshots were seen and more than "
              "`threshold` percent of them were bottlenecks.",
       .samples = {Resource::cpu_utilization, Resource::gpu_utilization}},
      {field("threshold", &Params::threshold, 0, 100,
             "Percentage of all snapshots that are bottlenecks."),
       field("gpu_threshold", &Params::gpu_threshold, 0, 100,
             "A GPU below this utilisation (percent) is idle."),
       field("cpu_threshold", &Params::core_threshold, 0, 100,
             "A core above this utilisation (percent) is saturated."),
       field("patience", &Params::patience, 0, 1000000,
             "Snapshots required before the first evaluation.", 100),
       field("recovery_snapshots", &Params::recovery_snapshots, 1, 1000000,
             "Consecutive snapshots at or below the threshold that end the alert.")});
  return spec;
}

}  // namespace trainwatch::cpu_bottleneck

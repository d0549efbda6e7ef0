// SPDX-License-Identifier: Apache-2.0
// GPUs idle while a CPU core waits for storage; SageMaker's IOBottleneck, see
// docs/rules/io_bottleneck.md.
#include "rules/bottleneck.h"

namespace trainwatch::io_bottleneck {
namespace {

constexpr BottleneckKind kKind{.cause = CauseName::io_wait,
                               .count_field = "high_io_wait_snapshots",
                               .above = "a CPU core waited for I/O more than",
                               .explained = "a CPU core waited for I/O.",
                               .next =
                                   "Find the slow reads: move the data to local or faster storage, "
                                   "into fewer and larger files "
                                   "or into memory, and prefetch more batches."};

using Params = BottleneckParams;

class IoBottleneck final : public Bottleneck {
 public:
  IoBottleneck(const Params& params, const RuleContext& context)
      : Bottleneck(kKind, params, context) {}
};

RuleSpec make_io_bottleneck() {
  RuleSpec spec = make_spec<IoBottleneck, Params>(
      {.id = "io_bottleneck",
       .scope = Scope::node,
       .summary = "GPUs are idle while a CPU core waits for storage.",
       .doc = "SageMaker's IOBottleneck: samples of a node within 20 ms make a snapshot; a "
              "snapshot with a GPU below gpu_threshold and a core that waits for I/O more than "
              "io_threshold is a bottleneck. Fires when more than `patience` snapshots were seen "
              "and more than `threshold` percent of them were bottlenecks.",
       .samples = {Resource::cpu_io_wait, Resource::gpu_utilization},
       .on_by_default = false,
       .incident = {.specificity = 44, .slack = std::chrono::minutes(2)}},
      {field("threshold", &Params::threshold, 0, 100,
             "Percentage of all snapshots that are bottlenecks."),
       field("gpu_threshold", &Params::gpu_threshold, 0, 100,
             "A GPU below this utilisation (percent) is idle.", {.docs = 70}),
       field("io_threshold", &Params::core_threshold, 0, 100,
             "A core that waits for I/O longer than this (percent of its time) is blocked."),
       field("patience", &Params::patience, 0, 1000000,
             "Snapshots required before the first evaluation."),
       field("recovery_snapshots", &Params::recovery_snapshots, 1, 1000000,
             "Consecutive snapshots at or below the threshold that end the alert.")});
  spec.defaults = Params{.core_threshold = 50};
  return spec;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_io_bottleneck();
  return spec;
}

}  // namespace trainwatch::io_bottleneck

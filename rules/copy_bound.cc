// SPDX-License-Identifier: Apache-2.0
// The GPU copies while it could compute; see docs/rules/copy_bound.md.
#include <string>

#include "rules/cycle_rule.h"
#include "rules/format.h"

namespace trainwatch::copy_bound {
namespace {

struct Params {
  double threshold_percent = 6;
};

std::int64_t copy_time(const StepSummary& step) {
  return step.exposed_memory_ns;
}

class CopyBound final : public CycleRule {
 public:
  CopyBound(const Params& params, const RuleContext&)
      : CycleRule(Needs::activity), params_(params) {}

 protected:
  std::optional<Verdict> judge(const CycleSummary& cycle) const override {
    const double percent = median_percent(cycle.steps, copy_time);
    if (percent < kStays * params_.threshold_percent) return std::nullopt;
    const std::int64_t exposed_ns = cycle.sum(&StepSummary::exposed_memory_ns);
    Verdict verdict;
    verdict.step = cycle.steps.back().number;
    verdict.value = percent;
    verdict.threshold = params_.threshold_percent;
    verdict.unit = "percent";
    verdict.lost_seconds = seconds(exposed_ns);
    verdict.summary = "Copies and fills take " + format::percent(percent) +
                      " of a step while nothing is computed";
    verdict.cause = {CauseName::memory_copy,
                     percent / 100,
                     format::seconds(seconds(exposed_ns)) + " of " +
                         format::seconds(seconds(cycle.step_ns())) +
                         " passed in copies that nothing hid.",
                     {}};
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("steps", cycle.steps.size())
                           .field("step_seconds", seconds(cycle.step_ns()))
                           .field("copy_seconds", seconds(cycle.memory_ns))
                           .field("exposed_copy_seconds", seconds(exposed_ns))
                           .end_object()
                           .take();
    verdict.next =
        "Copy less, or while the GPU computes: pinned memory with non_blocking=True, prefetching "
        "the next batch on a stream of its own, tensors that stay on the GPU.";
    return verdict;
  }

 private:
  static double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<CopyBound, Params>(
      {.id = "copy_bound",
       .version = 2,
       .scope = Scope::rank,
       .summary = "Copies between host and GPU take time in every step.",
       .doc = "The share of a step in which the GPU copied or filled memory and computed nothing; "
              "the median over the steps of a cycle.",
       .incident = {.specificity = 57}},
      {field("threshold_percent", &Params::threshold_percent, 0, 100,
             "Percentage of a step in copies and fills while nothing is computed.")});
  return spec;
}

}  // namespace trainwatch::copy_bound

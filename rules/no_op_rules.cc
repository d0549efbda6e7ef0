// SPDX-License-Identifier: Apache-2.0
// SageMaker's rules that never fire: reports, whose figures are in analyses of the same names. They
// exist so that configurations that name them are accepted. See docs/rules/overall_system_usage.md
// and docs/rules/overall_framework_metrics.md.
#include "trainwatch/rule.h"

namespace trainwatch {
namespace {

struct NoParams {};

class NoOpRule final : public Rule {
 public:
  NoOpRule(const NoParams&, const RuleContext&) {}
  void state(StateIo&) override {}
};

}  // namespace

namespace overall_system_usage {
const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<NoOpRule, NoParams>(
      {.id = "overall_system_usage",
       .summary = "How much of each resource a node uses; never an alert.",
       .doc = "SageMaker's OverallSystemUsage, which never fires. The analysis "
              "overall_system_usage has its numbers.",
       .on_by_default = false},
      {});
  return spec;
}
}  // namespace overall_system_usage

namespace overall_framework_metrics {
const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<NoOpRule, NoParams>(
      {.id = "overall_framework_metrics",
       .summary = "What the framework spends its time on; never an alert.",
       .doc = "SageMaker's OverallFrameworkMetrics, which never fires. The analysis "
              "overall_framework_metrics has its numbers.",
       .on_by_default = false},
      {});
  return spec;
}
}  // namespace overall_framework_metrics

}  // namespace trainwatch

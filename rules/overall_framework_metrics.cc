// SageMaker's OverallFrameworkMetrics, a report and no judgement, see
// docs/rules/overall_framework_metrics.md.
#include "rules/report_only.h"

namespace trainwatch {

const RuleSpec& overall_framework_metrics_rule() {
  static const RuleSpec spec = make_spec<ReportOnly, NoParams>(
      {.id = "overall_framework_metrics",
       .summary = "What the framework spends its time on; never an alert.",
       .doc = "SageMaker's OverallFrameworkMetrics, which never fires. The analysis "
              "overall_framework_metrics has its numbers.",
       .on_by_default = false},
      {});
  return spec;
}

}  // namespace trainwatch

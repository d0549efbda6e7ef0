// SageMaker's OverallSystemUsage, a report and no judgement, see
// docs/rules/overall_system_usage.md.
#include "rules/report_only.h"

namespace trainwatch {

const RuleSpec& overall_system_usage_rule() {
  static const RuleSpec spec = make_spec<ReportOnly, NoParams>(
      {.id = "overall_system_usage",
       .summary = "How much of each resource a node uses; never an alert.",
       .doc = "SageMaker's OverallSystemUsage, which never fires. The analysis "
              "overall_system_usage has "
              "its numbers.",
       .on_by_default = false},
      {});
  return spec;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Communication that could be hidden behind computation; see docs/rules/low_overlap.md.
#include <utility>

#include "rules/communication_rule.h"
#include "rules/format.h"

namespace trainwatch::low_overlap {
namespace {

struct Params {
  double threshold_percent = 50;
  double communication_percent = 10;
  std::int64_t window = 20;
};

class LowOverlap final : public CommunicationRule {
 public:
  LowOverlap(const Params& params, const RuleContext& context)
      : CommunicationRule(params.window, context), params_(params) {}

 protected:
  std::optional<Finding> judge(const Shares& shares) const override {
    if (shares.communication < params_.communication_percent ||
        shares.hidden >= params_.threshold_percent) {
      return std::nullopt;
    }
    Verdict verdict;
    verdict.severity = Severity::info;
    verdict.value = shares.hidden;
    verdict.threshold = params_.threshold_percent;
    verdict.summary = "Only " + format::percent(shares.hidden) +
                      " of the communication overlaps with computation, and it takes " +
                      format::percent(shares.communication) + " of a step";
    verdict.cause = {CauseName::communication,
                     (100 - shares.hidden) / 100,
                     "The rest runs while nothing is computed.",
                     {}};
    verdict.next =
        "Start communication earlier: smaller first buckets, DDP or FSDP prefetching, a separate "
        "stream, no synchronisation in between.";
    return Finding{std::move(verdict)};
  }

 private:
  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<LowOverlap, Params>(
      {.id = "low_overlap",
       .version = 4,
       .scope = Scope::job,
       .summary = "Communication could overlap with computation, but does not.",
       .doc =
           "Communication takes much of a step, and little of it runs while something is "
           "computed; both on the rank that waits least, as medians over the last `window` steps "
           "of a profiler.",
       .incident = {.specificity = 10}},
      {field("threshold_percent", &Params::threshold_percent, 0, 100,
             "Percentage of the communication that overlaps with computation."),
       field("communication_percent", &Params::communication_percent, 0, 100,
             "Percentage of a step in communication from which it matters."),
       field("window", &Params::window, 3, 1000, "Steps in the window.")});
  return spec;
}

}  // namespace trainwatch::low_overlap

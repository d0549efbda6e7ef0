// SPDX-License-Identifier: Apache-2.0
// Steps wait for transfers between GPUs; see docs/rules/communication_bound.md.
#include <utility>

#include "rules/communication_rule.h"
#include "rules/format.h"

namespace trainwatch::communication_bound {
namespace {

struct Params {
  double threshold_percent = 6;
  std::int64_t window = 20;
};

class CommunicationBound final : public CommunicationRule {
 public:
  CommunicationBound(const Params& params, const RuleContext& context)
      : CommunicationRule(params.window, context), params_(params) {}

 protected:
  std::optional<Finding> judge(const Shares& shares) const override {
    if (shares.exposed < kStays * params_.threshold_percent) return std::nullopt;
    Verdict verdict;
    verdict.value = shares.exposed;
    verdict.threshold = params_.threshold_percent;
    verdict.summary = "Exposed communication takes " + format::percent(shares.exposed) +
                      " of a step even on the rank that waits least";
    verdict.cause = {
        CauseName::communication,
        shares.exposed / 100,
        format::percent(shares.hidden) + " of the communication overlaps with computation.",
        {}};
    verdict.next =
        "Communicate less or earlier: gradient accumulation, larger buckets, compression, overlap "
        "with the backward pass; check the links between the GPUs.";
    return Finding{std::move(verdict), shares.exposed >= params_.threshold_percent};
  }

 private:
  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<CommunicationBound, Params>(
      {.id = "communication_bound",
       .version = 4,
       .scope = Scope::job,
       .summary = "Steps wait for transfers between GPUs.",
       .doc = "The share of a step with communication while nothing is computed or copied, on the "
              "rank where it is smallest; the median over the last `window` profiled steps. "
              "Waiting for a slow rank is not counted: straggler reports it.",
       .incident = {.specificity = 55}},
      {field("threshold_percent", &Params::threshold_percent, 0, 100,
             "Percentage of a step in exposed communication."),
       field("window", &Params::window, 3, 1000, "Steps in the window.")});
  return spec;
}

}  // namespace trainwatch::communication_bound

// SPDX-License-Identifier: Apache-2.0
// Steps wait for transfers between GPUs; see docs/rules/communication_bound.md.
#include <string>
#include <utility>

#include "rules/communication_rule.h"
#include "rules/format.h"

namespace trainwatch::communication_bound {
namespace {

struct Params {
  double threshold_percent = 6;
  std::int64_t window = 20;
};

// Percentage of a step: parallelism within the layers of a model communicates in each of them.
constexpr double kUsualWithinLayers = 25;

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
    verdict.severity = is_usual(shares) ? Severity::info : Severity::warning;
    verdict.cause = {CauseName::communication, shares.exposed / 100, explanation(shares), {}};
    verdict.next =
        "Communicate less or earlier: gradient accumulation, larger buckets, compression, overlap "
        "with the backward pass; check the links between the GPUs.";
    return Finding{std::move(verdict), shares.exposed >= params_.threshold_percent};
  }

 private:
  bool is_usual(const Shares& shares) const {
    return shares.exposed - shares.within_layers < params_.threshold_percent &&
           shares.within_layers < kUsualWithinLayers;
  }
  static std::string explanation(const Shares& shares) {
    const std::string hidden =
        format::percent(shares.hidden) + " of the communication overlaps with computation";
    if (shares.within_layers <= 0) return hidden + ".";
    return hidden + "; " + format::percent(shares.within_layers) +
           " of a step is exposed communication within the layers of the model (tensor, context, "
           "expert or pipeline parallelism).";
  }

  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<CommunicationBound, Params>(
      {.id = "communication_bound",
       .version = 5,
       .scope = Scope::job,
       .summary = "Steps wait for transfers between GPUs.",
       .doc = "The share of a step with communication while nothing is computed or copied, on the "
              "rank where it is smallest; the median over the last `window` profiled steps. "
              "Waiting for a slow rank is not counted: straggler reports it. Communication within "
              "the layers of a model, as of tensor parallelism, is usual up to 25 % of a step.",
       .incident = {.specificity = 55}},
      {field("threshold_percent", &Params::threshold_percent, 0, 100,
             "Percentage of a step in exposed communication."),
       field("window", &Params::window, 3, 1000, "Steps in the window.")});
  return spec;
}

}  // namespace trainwatch::communication_bound

// SPDX-License-Identifier: Apache-2.0
// A step takes longer than a fixed limit; see docs/rules/long_step.md.
#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::long_step {
namespace {

struct Params {
  double limit_seconds = 60;
  std::int64_t recovery_steps = 5;
};

class LongStep final : public Rule {
 public:
  LongStep(const Params& params, const RuleContext&) : params_(params) {}

  void on_step(const Step& step, Verdicts& out) override {
    seen_ = true;
    const double seconds = to_seconds(step.duration);
    if (seconds <= params_.limit_seconds) return out.clear({}, step.end());
    out.fires({.at = step.end(), .figure = seconds}, [&] { return describe(step, seconds); });
  }

  // An update is worth while if a step is longer than the last one that was reported.
  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_steps,
            .change = Lifecycle::Change::rise,
            .min_change = 1};
  }
  void state(StateIo& io) override { io(seen_); }
  bool warming() const override { return !seen_; }

 private:
  Verdict describe(const Step& step, double seconds) const {
    Verdict verdict;
    verdict.window_start = step.start;  // the engine looks for the cause in this interval
    verdict.window_end = step.end();
    verdict.step = step.number;
    verdict.value = seconds;
    verdict.threshold = params_.limit_seconds;
    verdict.unit = "seconds";
    verdict.summary = "Step " + std::to_string(step.number) + " took " + format::figure(seconds) +
                      " s, longer than " + format::figure(params_.limit_seconds) + " s.";
    verdict.evidence =
        JsonWriter{}.begin_object().field("mode", to_string(step.mode)).end_object().take();
    verdict.next = "Look at what the job did during that step.";
    return verdict;
  }

  Params params_;
  bool seen_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<LongStep, Params>(
      {.id = "long_step",
       .scope = Scope::rank,
       .summary = "A step takes longer than a fixed limit.",
       .doc = "The duration of each step is compared with `limit_seconds`."},
      {field("limit_seconds", &Params::limit_seconds, 0, 86400, "Seconds that a step may take."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000000,
             "Consecutive steps within the limit that end the alert.")});
  return spec;
}

}  // namespace trainwatch::long_step

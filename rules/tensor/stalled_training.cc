// SPDX-License-Identifier: Apache-2.0
// No new tensor for long; SageMaker's StalledTrainingRule, see docs/rules/stalled_training.md.
#include <algorithm>
#include <string>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/tensor.h"

namespace trainwatch::stalled_training {
namespace {

struct Params {
  double threshold = 1800;
};

class StalledTraining final : public Rule {
 public:
  StalledTraining(const Params& params, const RuleContext&) : params_(params) {}

  // A pause that is over is found by the tensor behind it, so that a replay finds it, too.
  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (latest_ != kNoTime && tensor.at - latest_ > patience()) {
      fire(tensor.at, false, out);
    }
    out.clear_all(tensor.at);
    latest_ = std::max(latest_ == kNoTime ? tensor.at : latest_, tensor.at);
    step_ = tensor.step;
  }
  void on_note(const SourceNote& note, Verdicts& out) override {
    if (note.kind != SourceNote::Kind::timeline_closed) return;
    latest_ = kNoTime;  // the training has ended
    out.clear_all(note.at);
  }
  TickResult on_tick(Tick tick, Verdicts& out) override {
    if (latest_ == kNoTime) return {};
    if (tick.now - latest_ <= patience()) {
      armed_ = true;
    } else if (armed_) {
      fire(tick.now, true, out);
    }
    return {};  // armed_ is not kept
  }

  void state(StateIo& io) override {
    io(latest_);
    io(step_);
    if (!is_possible(latest_)) io.fail();
  }
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::rise, .min_change = Lifecycle::kNeverByFigure};
  }
  bool warming() const override { return latest_ == kNoTime; }

 private:
  Nanos patience() const { return Nanos{static_cast<std::int64_t>(params_.threshold * 1e9)}; }
  void fire(Time now, bool lasts, Verdicts& out) const {
    const double silent = to_seconds(now - latest_);
    out.fires({.at = latest_ + patience(),
               .aspect = lasts ? 0U : 1U,  // how long it was is known when it is over
               .amount = static_cast<std::uint64_t>(std::max(silent, 1.0)),
               .provisional = lasts},
              [&] { return describe(silent, lasts); });
  }
  Verdict describe(double silent, bool lasts) const {
    Verdict verdict;
    verdict.since = latest_;
    verdict.step = step_;
    verdict.value = silent;
    verdict.threshold = params_.threshold;
    verdict.unit = "seconds";
    verdict.summary = lasts ? "No tensor has been saved for " : "No tensor was saved for ";
    verdict.summary += format::seconds(silent) + ", since step " + std::to_string(step_) + ".";
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("latest_step", step_)
                           .field("seconds", silent)
                           .field("threshold", params_.threshold)
                           .end_object()
                           .take();
    verdict.next =
        "Look whether the job still runs: at its log, at the steps of the other ranks and at the "
        "stacks of its processes.";
    return verdict;
  }

  Params params_;
  Time latest_ = kNoTime;
  std::int64_t step_ = kNoStep;
  bool armed_ = false;  // a tick has come while the latest tensor was new; not in the state
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<StalledTraining, Params>(
      {.id = "stalled_training",
       .scope = Scope::rank,
       .summary = "A job that saves tensors has saved none for long.",
       .doc = "SageMaker's StalledTrainingRule: no new tensor within `threshold` seconds. It never "
              "stops a job.",
       .on_by_default = false},
      {field("threshold", &Params::threshold, 1, 1e9, "Seconds without a new tensor.")});
  return spec;
}

}  // namespace trainwatch::stalled_training

// SPDX-License-Identifier: Apache-2.0
// A loss has not improved for many steps; SageMaker's Overtraining, see docs/rules/overtraining.md.
#include <cmath>
#include <string>

#include "rules/tensor/loss_feed.h"

namespace trainwatch::overtraining {
namespace {

constexpr std::string_view kNext =
    "Stop, or lower the learning rate; of the checkpoints, take one from when the validation loss "
    "was lowest.";
constexpr TensorPhrases kPhrases[] = {{.pattern = "training",
                                       .one = "has stopped to improve",
                                       .many = "have stopped to improve",
                                       .figure = "records without improvement",
                                       .unit = "records",
                                       .next = kNext,
                                       .thing = "loss"},
                                      {.pattern = "validation",
                                       .one = "has stopped to improve",
                                       .many = "have stopped to improve",
                                       .figure = "records without improvement",
                                       .unit = "records",
                                       .next = kNext,
                                       .thing = "loss"}};

struct Params {
  std::int64_t patience_train = 5;
  std::int64_t patience_validation = 10;
  double delta = 0.01;
};

struct Memory {
  double best = INFINITY;
  std::int64_t since = 0;  // records after the best

  bool possible() const { return !std::isnan(best) && since >= 0; }
};

class Overtraining final : public TensorRule<Memory> {
 public:
  Overtraining(const Params& params, const RuleContext& context)
      : TensorRule(context), params_(params), losses_("losses", "") {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (!losses_.has(tensor, interner())) return;
    if (const auto point = loss_point(tensor)) on_loss(*point, out);
  }
  void on_scalar(const Scalar& scalar, Verdicts& out) override {
    if (const auto point = loss_point(scalar)) on_loss(*point, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "losses"; }

 private:
  void on_loss(const LossPoint& point, Verdicts& out) {
    Track* const track = reach(point.place, out);
    if (track == nullptr) return;
    Memory& memory = track->memory;
    const bool better = point.value <= memory.best - params_.delta;
    if (better) memory.best = point.value;
    memory.since = better ? 0 : memory.since + 1;
    const bool validates = point.place.mode == Mode::eval;
    const std::int64_t patience = validates ? params_.patience_validation : params_.patience_train;
    judge(*track, point.place,
          {memory.since >= patience, static_cast<double>(memory.since),
           static_cast<double>(patience), static_cast<std::uint8_t>(validates ? 1 : 0)},
          out);
  }

  Params params_;
  TensorSelection losses_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Overtraining, Params>(
      {.id = "overtraining",
       .scope = Scope::rank,
       .summary = "A training or validation loss has stopped to improve.",
       .doc = "SageMaker's Overtraining: a loss has not fallen by `delta` below its best for "
              "`patience_train` records, or `patience_validation` of a validation. Saved tensors "
              "of one element in the collection losses, and losses that the job logs.",
       .on_by_default = false},
      {field("patience_train", &Params::patience_train, 1, 1e9,
             "Records of a training loss without improvement that count."),
       field("patience_validation", &Params::patience_validation, 1, 1e9,
             "Records of a validation loss without improvement that count."),
       field("delta", &Params::delta, 0, 1e300, "By how much a loss must fall to be better.")});
  return spec;
}

}  // namespace trainwatch::overtraining

// SPDX-License-Identifier: Apache-2.0
// Gradients are next to zero; SageMaker's VanishingGradient, see docs/rules/vanishing_gradient.md.
#include <optional>
#include <string>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::vanishing_gradient {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "has vanished",
     .many = "have vanished",
     .figure = "mean absolute value",
     .next = "Look at the layers between these and the loss: saturated activations, weights that "
             "are too small, missing normalisation or residual connections, underflow in half "
             "precision without a loss scale.",
     .thing = "gradient"}};

struct Params {
  double threshold = 1e-7;
};

class VanishingGradient final : public TensorRule<NoTensorMemory> {
 public:
  VanishingGradient(const Params& params, const RuleContext& context)
      : TensorRule(context), threshold_(params.threshold), gradients_("gradients", "") {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const auto size = size_of(tensor);
    if (!size) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track != nullptr) judge(*track, place, {*size < threshold_, *size, threshold_}, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "gradients"; }

 private:
  // The mean absolute value of a gradient, computed or saved by the job.
  std::optional<double> size_of(const Tensor& tensor) const {
    if (tensor.statistics.finite() == 0) return std::nullopt;  // see exploding_tensor
    if (gradients_.has(tensor, interner())) return tensor.statistics.abs_mean;
    const std::string_view name = interner().symbols.text(tensor.name);
    const std::string_view of = reduced_tensor(name, "abs_mean");
    if (of.empty() || !gradients_.has_name(of)) return std::nullopt;
    return tensor.statistics.mean;
  }

  double threshold_;
  TensorSelection gradients_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<VanishingGradient, Params>(
      {.id = "vanishing_gradient",
       .scope = Scope::rank,
       .summary = "Gradients of saved steps are next to zero.",
       .doc = "SageMaker's VanishingGradient: the mean absolute value of a tensor of the "
              "collection gradients is below `threshold`.",
       .on_by_default = false},
      {field("threshold", &Params::threshold, 0, 1e300,
             "Mean absolute value below which a gradient has vanished.")});
  return spec;
}

}  // namespace trainwatch::vanishing_gradient

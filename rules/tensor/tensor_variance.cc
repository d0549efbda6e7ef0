// SPDX-License-Identifier: Apache-2.0
// The variance of a tensor is too high or too low; SageMaker's TensorVariance, see
// docs/rules/tensor_variance.md.
#include <string>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::tensor_variance {
namespace {

constexpr std::string_view kNext =
    "Compare with earlier steps and other layers: a variance that grows from layer to layer or "
    "from step to step explodes, one that shrinks leaves nothing to learn from; look at the "
    "initialisation, the normalisation and the learning rate.";
constexpr TensorPhrases kPhrases[] = {{.pattern = "high",
                                       .one = "varies too much",
                                       .many = "vary too much",
                                       .figure = "variance",
                                       .next = kNext},
                                      {.pattern = "low",
                                       .one = "varies too little",
                                       .many = "vary too little",
                                       .figure = "variance",
                                       .next = kNext}};

struct Params {
  std::string collection_names;
  std::string tensor_regex;
  double max_threshold = -1;
  double min_threshold = -1;
};

class TensorVariance final : public TensorRule<NoTensorMemory> {
 public:
  TensorVariance(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        selection_(params.collection_names, params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.finite() == 0 || !limited()) return;
    if (!selection_.has(tensor, interner())) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const double variance = tensor.statistics.variance;
    if (params_.max_threshold >= 0 && variance > params_.max_threshold) {
      return judge(*track, place, {true, variance, params_.max_threshold, 0}, out);
    }
    judge(*track, place, {variance < params_.min_threshold, variance, params_.min_threshold, 1},
          out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override {
    if (selection_.empty()) return "collection_names or tensor_regex";
    return limited() ? "selected tensors" : "max_threshold or min_threshold";
  }

 private:
  bool limited() const { return params_.max_threshold >= 0 || params_.min_threshold >= 0; }

  Params params_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<TensorVariance, Params>(
      {.id = "tensor_variance",
       .scope = Scope::rank,
       .summary = "The variance of saved tensors is outside its limits.",
       .doc = "SageMaker's TensorVariance: the variance (of the population) of a tensor is above "
              "`max_threshold` or below `min_threshold`. Judges nothing until a limit and "
              "collections or expressions are set.",
       .on_by_default = false},
      {collections_field(&Params::collection_names), names_field(&Params::tensor_regex),
       field("max_threshold", &Params::max_threshold, -1, 1e300,
             "Highest variance; negative: no such limit."),
       field("min_threshold", &Params::min_threshold, -1, 1e300,
             "Lowest variance; negative: no such limit.")});
  return spec;
}

}  // namespace trainwatch::tensor_variance

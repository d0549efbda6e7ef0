// SPDX-License-Identifier: Apache-2.0
// A tensor has elements that are not finite; SageMaker's ExplodingTensor, see
// docs/rules/exploding_tensor.md.
#include <cstdint>
#include <string>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::exploding_tensor {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "has elements that are not finite",
     .many = "have elements that are not finite",
     .figure = "number of such elements",
     .unit = "elements",
     .next = "Find the first step and tensor of these: look for a learning rate that is too high, "
             "divisions by zero, logarithms of zero and overflow in half precision; clip the "
             "gradients, and restart from a checkpoint before that step."}};

struct Params {
  std::string collection_names;
  std::string tensor_regex;
  bool only_nan = false;
};

class ExplodingTensor final : public TensorRule<NoTensorMemory> {
 public:
  ExplodingTensor(const Params& params, const RuleContext& context)
      : TensorRule(context),
        only_nan_(params.only_nan),
        selection_(params.collection_names, params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.count == 0) return;
    if (!selection_.empty() && !selection_.has(tensor, interner())) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const TensorStatistics& found = tensor.statistics;
    const std::uint64_t bad = found.nans + (only_nan_ ? 0 : found.infinities);
    judge(*track, place, {.bad = bad > 0, .value = static_cast<double>(bad)}, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "selected tensors"; }

 private:
  bool only_nan_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<ExplodingTensor, Params>(
      {.id = "exploding_tensor",
       .scope = Scope::rank,
       .summary = "Saved tensors have elements that are NaN or infinite.",
       .doc = "SageMaker's ExplodingTensor: any element of a saved tensor is NaN, or infinite "
              "unless `only_nan`. Judges all tensors unless collections or expressions are set."},
      {collections_field(&Params::collection_names), names_field(&Params::tensor_regex),
       bool_field("only_nan", &Params::only_nan, "Infinite elements do not count.")});
  return spec;
}

}  // namespace trainwatch::exploding_tensor

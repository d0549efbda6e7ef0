// SPDX-License-Identifier: Apache-2.0
// The elements of a tensor are zero; SageMaker's AllZero, see docs/rules/all_zero.md.
#include <string>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::all_zero {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "has too many zeros",
     .many = "have too many zeros",
     .figure = "share of zeros",
     .unit = "percent",
     .next = "Look whether the layer gets an input and a gradient at all: a dead activation, a "
             "mask, frozen or badly initialised weights."}};

struct Params {
  std::string collection_names;
  std::string tensor_regex;
  double threshold = 100;
};

class AllZero final : public TensorRule<NoTensorMemory> {
 public:
  AllZero(const Params& params, const RuleContext& context)
      : TensorRule(context),
        threshold_(params.threshold),
        selection_(params.collection_names, params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const TensorStatistics& found = tensor.statistics;
    if (found.count == 0 || !selection_.has(tensor, interner())) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const double share = 100 * static_cast<double>(found.zeros) / static_cast<double>(found.count);
    judge(*track, place, {share >= threshold_, share, threshold_}, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override {
    return selection_.empty() ? "collection_names or tensor_regex" : "selected tensors";
  }

 private:
  double threshold_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<AllZero, Params>(
      {.id = "all_zero",
       .scope = Scope::rank,
       .summary = "Saved tensors consist of zeros.",
       .doc = "SageMaker's AllZero: at least `threshold` percent of a tensor's elements are zero. "
              "Judges nothing until collections or expressions are set.",
       .on_by_default = false},
      {collections_field(&Params::collection_names), names_field(&Params::tensor_regex),
       field("threshold", &Params::threshold, 0, 100, "Percent of zeros that count.")});
  return spec;
}

}  // namespace trainwatch::all_zero

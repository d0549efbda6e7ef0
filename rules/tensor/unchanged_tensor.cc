// SPDX-License-Identifier: Apache-2.0
// A tensor does not change from step to step; SageMaker's UnchangedTensor, see
// docs/rules/unchanged_tensor.md.
#include <algorithm>
#include <cmath>
#include <string>

#include "rules/tensor/kept_sample.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::unchanged_tensor {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "does not change",
     .many = "do not change",
     .figure = "saved steps in a row with the same elements",
     .unit = "steps",
     .next = "Look whether these parameters are meant to be frozen, whether the optimizer has "
             "them, and whether the learning rate is zero."}};

struct Params {
  std::string collection_names;
  std::string tensor_regex;
  std::int64_t num_steps = 3;
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};

struct Memory {
  KeptSample previous;
  std::int64_t same = 1;  // steps in a row, with the latest

  bool possible() const { return previous.possible() && same >= 1; }
};

class UnchangedTensor final : public TensorRule<Memory> {
 public:
  UnchangedTensor(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        selection_(params.collection_names, params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.count == 0 || !selection_.has(tensor, interner())) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    Memory& memory = track->memory;
    const bool same = memory.previous.fits(tensor) && is_close(memory.previous, tensor);
    memory.same = same ? memory.same + 1 : 1;
    memory.previous.keep(tensor, place.step);
    judge(*track, place,
          {memory.same >= params_.num_steps, static_cast<double>(memory.same),
           static_cast<double>(params_.num_steps)},
          out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override {
    return selection_.empty() ? "collection_names or tensor_regex" : "selected tensors";
  }
  std::size_t most_tensors() const override { return kMostKeptSamples; }

 private:
  // numpy.allclose(latest, previous).
  bool is_close(const KeptSample& previous, const Tensor& tensor) const {
    return std::ranges::equal(tensor.sample, previous.values(), [this](double now, float kept) {
      const double before = kept;
      if (std::isnan(now) || std::isnan(before)) {
        return params_.equal_nan && std::isnan(now) && std::isnan(before);
      }
      if (now == before) return true;
      if (std::isinf(now) || std::isinf(before)) return static_cast<float>(now) == kept;
      return std::fabs(now - before) <= params_.atol + params_.rtol * std::fabs(before);
    });
  }

  Params params_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<UnchangedTensor, Params>(
      {.id = "unchanged_tensor",
       .scope = Scope::rank,
       .summary = "Saved tensors do not change from step to step.",
       .doc = "SageMaker's UnchangedTensor: in the last `num_steps` saved steps of a tensor all "
              "elements are close to those of the step before, |a - b| <= atol + rtol |b|; of "
              "more than 4096 elements 4096 are compared. Judges nothing until collections or "
              "expressions are set.",
       .on_by_default = false},
      {collections_field(&Params::collection_names), names_field(&Params::tensor_regex),
       field("num_steps", &Params::num_steps, 2, 1000000, "Saved steps in a row that count."),
       field("rtol", &Params::rtol, 0, 1, "Relative tolerance."),
       field("atol", &Params::atol, 0, 1e300, "Absolute tolerance."),
       bool_field("equal_nan", &Params::equal_nan, "NaN is equal to NaN.")});
  return spec;
}

}  // namespace trainwatch::unchanged_tensor

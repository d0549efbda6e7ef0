// SPDX-License-Identifier: Apache-2.0
// Updates of weights are too large or too small for their size; SageMaker's WeightUpdateRatio, see
// docs/rules/weight_update_ratio.md.
#include <algorithm>
#include <cmath>
#include <string>

#include "rules/tensor/kept_sample.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::weight_update_ratio {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.pattern = "large",
     .one = "changes too much between steps",
     .many = "change too much between steps",
     .figure = "mean change over mean size",
     .unit = "ratio",
     .next = "Lower the learning rate, or clip the gradients; 0.001 per step is a usual ratio."},
    {.pattern = "small",
     .one = "changes too little between steps",
     .many = "change too little between steps",
     .figure = "mean change over mean size",
     .unit = "ratio",
     .next =
         "Raise the learning rate, or look whether these weights are frozen or get no gradient; "
         "0.001 per step is a usual ratio."}};

struct Params {
  std::int64_t num_steps = 0;
  double large_threshold = 10;
  double small_threshold = 1e-8;
  double epsilon = 1e-9;
};

struct Memory {
  KeptSample reference;  // what the next step is compared with
  KeptSample latest;     // only with num_steps

  bool possible() const { return reference.possible() && latest.possible(); }
};

class WeightUpdateRatio final : public TensorRule<Memory> {
 public:
  WeightUpdateRatio(const Params& params, const RuleContext& context)
      : TensorRule(context), params_(params), weights_("weights", "") {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.mode != Mode::train && (tensor.mode != Mode::global || trains())) return;
    if (tensor.statistics.finite() == 0 || !weights_.has(tensor, interner())) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    Memory& memory = track->memory;
    if (params_.num_steps > 0 && memory.reference.step() < place.step - params_.num_steps) {
      memory.reference = memory.latest;
    }
    if (memory.reference.fits(tensor)) {
      const double ratio = ratio_of(memory.reference, tensor);
      const bool large = ratio > params_.large_threshold;
      const bool bad = large || ratio < params_.small_threshold;
      judge(*track, place,
            {bad, ratio, large ? params_.large_threshold : params_.small_threshold,
             static_cast<std::uint8_t>(large ? 0 : 1)},
            out);
    }
    keep(memory, tensor, place.step);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "weights"; }
  std::size_t most_tensors() const override { return kMostKeptSamples; }

 private:
  // Global steps count only where no steps of the training are known.
  bool trains() const {
    return std::ranges::any_of(tracks(),
                               [](const Track& track) { return track.mode == Mode::train; });
  }
  void keep(Memory& memory, const Tensor& tensor, std::int64_t step) const {
    const bool always = params_.num_steps == 0 || !memory.reference.fits(tensor);
    if (always) memory.reference.keep(tensor, step);
    if (params_.num_steps > 0) memory.latest.keep(tensor, step);
  }
  double ratio_of(const KeptSample& before, const Tensor& tensor) const {
    double change = 0;
    double size = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < tensor.sample.size(); ++i) {
      const auto now = static_cast<float>(tensor.sample[i]);
      const float was = before.values()[i];
      if (!std::isfinite(now) || !std::isfinite(was)) continue;
      change += std::fabs(static_cast<double>(now) - static_cast<double>(was));
      size += std::fabs(static_cast<double>(was));
      ++count;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
    return change / n / (size / n + params_.epsilon);
  }

  Params params_;
  TensorSelection weights_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<WeightUpdateRatio, Params>(
      {.id = "weight_update_ratio",
       .scope = Scope::rank,
       .summary = "Updates of weights are too large or too small for their size.",
       .doc = "SageMaker's WeightUpdateRatio: the mean change of a weight since an earlier step, "
              "divided by its mean size there, is above `large_threshold` or below "
              "`small_threshold`. Of more than 4096 elements 4096 are compared.",
       .on_by_default = false},
      {field("num_steps", &Params::num_steps, 0, 1e9,
             "Steps over which weights are compared, at most; 0: with the saved step before."),
       field("large_threshold", &Params::large_threshold, 0, 1e300, "Largest ratio."),
       field("small_threshold", &Params::small_threshold, 0, 1e300, "Smallest ratio."),
       field("epsilon", &Params::epsilon, 1e-300, 1,
             "Is added to the size of the weights, which may be zero.")});
  return spec;
}

}  // namespace trainwatch::weight_update_ratio

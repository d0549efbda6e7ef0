// SPDX-License-Identifier: Apache-2.0
// Weights were initialised badly; SageMaker's PoorWeightInitialization, see
// docs/rules/poor_weight_initialization.md.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rules/tensor/loss_feed.h"

namespace trainwatch::poor_weight_initialization {
namespace {

constexpr std::string_view kNext =
    "Use the initialisation that fits the activation (He for ReLU, Glorot for tanh and sigmoid), "
    "or normalise the inputs of the layers.";
constexpr TensorPhrases kPhrases[] = {{.pattern = "variance",
                                       .one = "varies far more or less than that of another layer",
                                       .many = "vary far more or less than those of another layer",
                                       .figure = "ratio of the two variances",
                                       .unit = "ratio",
                                       .next = kNext,
                                       .thing = "activation input"},
                                      {.pattern = "gradient",
                                       .one = "is next to constant",
                                       .many = "are next to constant",
                                       .figure = "5th to 95th percentile",
                                       .next = kNext,
                                       .thing = "gradient"},
                                      {.pattern = "loss",
                                       .one = "does not decrease from the beginning",
                                       .many = "do not decrease from the beginning",
                                       .figure = "records without a decrease",
                                       .unit = "records",
                                       .next = kNext,
                                       .thing = "loss"}};
enum Pattern : std::uint8_t { kVariance, kGradient, kLoss };

struct Params {
  std::string activation_inputs_regex = ".*relu_input";
  double threshold = 10;
  double distribution_range = 0.001;
  std::int64_t patience = 5;
  std::int64_t steps = 10;
};

// Of a loss.
struct Memory {
  double best = INFINITY;
  std::int64_t since = -1;  // records after the best

  bool possible() const { return !std::isnan(best) && since >= -1; }
};

class PoorWeightInitialization final : public TensorRule<Memory> {
 public:
  PoorWeightInitialization(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        inputs_("", params.activation_inputs_regex),
        gradients_("gradients", ""),
        losses_("losses", "") {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.finite() == 0 || over_) return;
    if (!advance(tensor, out)) return;
    if (inputs_.has(tensor, interner())) {
      on_input(tensor, out);
    } else if (gradients_.has(tensor, interner())) {
      on_gradient(tensor, out);
    } else if (losses_.has(tensor, interner())) {
      on_loss(tensor, out);
    }
  }

  void state(StateIo& io) override {
    TensorRule::state(io);
    io(step_);
    io(seen_);
    io(smallest_);
    io(largest_);
    io(over_);
    if (!(smallest_ > 0) || !(largest_ >= 0)) io.fail();
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "activation inputs, gradients and losses"; }

 private:
  // False after the first `steps` saved steps: what was found then is of the past.
  bool advance(const Tensor& tensor, Verdicts& out) {
    if (tensor.step == step_) return true;
    step_ = tensor.step;
    smallest_ = INFINITY;
    largest_ = 0;
    over_ = ++seen_ > params_.steps;
    if (!over_) return true;
    for (Track& track : tracks()) judge(track, place_of(tensor), {}, out);
    return false;
  }

  // Against the extremes of the layers that the step has shown so far.
  void on_input(const Tensor& tensor, Verdicts& out) {
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const double variance = std::max(tensor.statistics.variance, 1e-300);
    smallest_ = std::min(smallest_, variance);
    largest_ = std::max(largest_, variance);
    const double ratio = std::max(variance / smallest_, largest_ / variance);
    judge(*track, place, {ratio > params_.threshold, ratio, params_.threshold, kVariance}, out);
  }
  void on_gradient(const Tensor& tensor, Verdicts& out) {
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr || tensor.sample.size() < 2) return;
    std::vector<double> sorted;
    std::ranges::copy_if(tensor.sample, std::back_inserter(sorted),
                         [](double value) { return std::isfinite(value); });
    if (sorted.empty()) return;
    std::ranges::sort(sorted);
    const double range = quantile(sorted, 0.95) - quantile(sorted, 0.05);
    judge(*track, place,
          {range < params_.distribution_range, range, params_.distribution_range, kGradient}, out);
  }
  void on_loss(const Tensor& tensor, Verdicts& out) {
    const auto point = loss_point(tensor);
    if (!point) return;
    Track* const track = reach(point->place, out);
    if (track == nullptr) return;
    Memory& memory = track->memory;
    const bool better = point->value < memory.best;
    if (better) memory.best = point->value;
    memory.since = better ? 0 : memory.since + 1;
    judge(*track, point->place,
          {memory.since >= params_.patience, static_cast<double>(memory.since),
           static_cast<double>(params_.patience), kLoss},
          out);
  }
  // As numpy.quantile: linear between two elements.
  static double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
  }

  Params params_;
  TensorSelection inputs_;
  TensorSelection gradients_;
  TensorSelection losses_;
  std::int64_t step_ = kNoStep;
  std::int64_t seen_ = 0;       // saved steps
  double smallest_ = INFINITY;  // variance of the activation inputs of this step
  double largest_ = 0;
  bool over_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<PoorWeightInitialization, Params>(
      {.id = "poor_weight_initialization",
       .scope = Scope::rank,
       .summary = "Weights were initialised badly.",
       .doc =
           "SageMaker's PoorWeightInitialization, in the first `steps` saved steps: the input of "
           "an activation varies `threshold` times as much as that of another, the 5th to 95th "
           "percentile of a gradient is narrower than `distribution_range`, or a loss does not "
           "decrease for `patience` records.",
       .on_by_default = false},
      {text_field("activation_inputs_regex", &Params::activation_inputs_regex,
                  "Regular expressions that find the inputs of activations, comma separated.",
                  check_regexes),
       field("threshold", &Params::threshold, 1, 1e300,
             "Largest ratio of two variances of activation inputs."),
       field("distribution_range", &Params::distribution_range, 0, 1e300,
             "Least width of the distribution of a gradient."),
       field("patience", &Params::patience, 1, 1e9,
             "Records of a loss without a decrease that count."),
       field("steps", &Params::steps, 1, 1e9, "Saved steps that are judged.")});
  return spec;
}

}  // namespace trainwatch::poor_weight_initialization

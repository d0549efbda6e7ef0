// SPDX-License-Identifier: Apache-2.0
// Many nodes of a layer of tanh or sigmoid are saturated; SageMaker's SaturatedActivation, see
// docs/rules/saturated_activation.md.
#include <string>

#include "rules/tensor/active_nodes.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::saturated_activation {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "has too many saturated nodes",
     .many = "have too many saturated nodes",
     .figure = "share of saturated nodes",
     .unit = "percent",
     .next = "Gradients behind these are next to zero: use smaller initial weights, normalise the "
             "inputs of the layer, or use another activation.",
     .thing = "layer"}};

struct Params {
  std::string tensor_regex = ".*tanh_input|.*sigmoid_input";
  double threshold_tanh_min = -9.4999;
  double threshold_tanh_max = 9.4999;
  double threshold_sigmoid_min = -23;
  double threshold_sigmoid_max = 16.99999;
  double threshold_inactivity = 1.0;
  double threshold_layer = 50.0;
};

class SaturatedActivation final : public TensorRule<NoTensorMemory> {
 public:
  SaturatedActivation(const Params& params, const RuleContext& context)
      : TensorRule(context), params_(params), selection_("", params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.count == 0 || !selection_.has(tensor, interner())) return;
    const std::span<const double> values = elements(tensor);
    if (values.empty()) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const std::string_view name = interner().symbols.text(tensor.name);
    const bool sigmoid = name.find("sigmoid") != std::string_view::npos;
    const double low = sigmoid ? params_.threshold_sigmoid_min : params_.threshold_tanh_min;
    const double high = sigmoid ? params_.threshold_sigmoid_max : params_.threshold_tanh_max;
    const double saturated =
        inactive_percent(values, tensor.shape, params_.threshold_inactivity,
                         [=](double value) { return value > low && value < high; });
    judge(*track, place, {saturated > params_.threshold_layer, saturated, params_.threshold_layer},
          out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "inputs of tanh or sigmoid"; }

 private:
  Params params_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<SaturatedActivation, Params>(
      {.id = "saturated_activation",
       .scope = Scope::rank,
       .summary = "Many nodes of a layer of tanh or sigmoid are saturated.",
       .doc = "SageMaker's SaturatedActivation: a node is saturated if its input is between the "
              "limits of its function in less than `threshold_inactivity` percent of the samples "
              "of a saved step; a layer is judged by the share of its saturated nodes.",
       .on_by_default = false},
      {text_field("tensor_regex", &Params::tensor_regex,
                  "Regular expressions that find the inputs of tanh and sigmoid, comma separated.",
                  check_regexes),
       field("threshold_tanh_min", &Params::threshold_tanh_min, -1e300, 1e300,
             "Input of tanh at and below which it is saturated."),
       field("threshold_tanh_max", &Params::threshold_tanh_max, -1e300, 1e300,
             "Input of tanh at and above which it is saturated."),
       field("threshold_sigmoid_min", &Params::threshold_sigmoid_min, -1e300, 1e300,
             "Input of sigmoid at and below which it is saturated."),
       field("threshold_sigmoid_max", &Params::threshold_sigmoid_max, -1e300, 1e300,
             "Input of sigmoid at and above which it is saturated."),
       field("threshold_inactivity", &Params::threshold_inactivity, 0, 100,
             "Percent of the samples below which a node is saturated."),
       field("threshold_layer", &Params::threshold_layer, 0, 100,
             "Percent of saturated nodes that a layer may have.")});
  return spec;
}

}  // namespace trainwatch::saturated_activation

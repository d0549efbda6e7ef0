// SPDX-License-Identifier: Apache-2.0
// Many ReLUs of a layer are never active; SageMaker's DeadRelu, see docs/rules/dead_relu.md.
#include <string>

#include "rules/tensor/active_nodes.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::dead_relu {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "has too many dead ReLUs",
     .many = "have too many dead ReLUs",
     .figure = "share of dead ReLUs",
     .unit = "percent",
     .next = "Lower the learning rate, look at the initialisation of the biases, or use a leaky "
             "activation.",
     .thing = "layer"}};

struct Params {
  std::string tensor_regex = ".*relu_output";
  double threshold_inactivity = 1.0;
  double threshold_layer = 50.0;
};

class DeadRelu final : public TensorRule<NoTensorMemory> {
 public:
  DeadRelu(const Params& params, const RuleContext& context)
      : TensorRule(context), params_(params), selection_("", params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.count == 0 || !selection_.has(tensor, interner())) return;
    const std::span<const double> values = elements(tensor);
    if (values.empty()) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const double dead = inactive_percent(values, tensor.shape, params_.threshold_inactivity,
                                         [](double value) { return value > 0; });
    judge(*track, place, {dead > params_.threshold_layer, dead, params_.threshold_layer}, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "ReLU outputs"; }

 private:
  Params params_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<DeadRelu, Params>(
      {.id = "dead_relu",
       .scope = Scope::rank,
       .summary = "Many ReLUs of a layer are never active.",
       .doc = "SageMaker's DeadRelu: a ReLU is dead if its output is above 0 in less than "
              "`threshold_inactivity` percent of the samples of a saved step; a layer is judged by "
              "the share of its dead ReLUs.",
       .on_by_default = false},
      {text_field("tensor_regex", &Params::tensor_regex,
                  "Regular expressions that find the outputs of ReLUs, comma separated.",
                  check_regexes),
       field("threshold_inactivity", &Params::threshold_inactivity, 0, 100,
             "Percent of the samples below which a ReLU is dead."),
       field("threshold_layer", &Params::threshold_layer, 0, 100,
             "Percent of dead ReLUs that a layer may have.")});
  return spec;
}

}  // namespace trainwatch::dead_relu

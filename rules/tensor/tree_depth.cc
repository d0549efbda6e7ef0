// SPDX-License-Identifier: Apache-2.0
// A tree of an XGBoost model is deep; SageMaker's TreeDepth, see docs/rules/tree_depth.md.
#include <cmath>
#include <string>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::tree_depth {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.one = "has grown too deep",
     .many = "have grown too deep",
     .figure = "depth",
     .unit = "levels",
     .next = "Deep trees fit the noise of the training data: lower max_depth, or raise "
             "min_child_weight or gamma.",
     .thing = "tree"}};

struct Params {
  std::int64_t depth = 4;
};

class TreeDepth final : public TensorRule<NoTensorMemory> {
 public:
  TreeDepth(const Params& params, const RuleContext& context)
      : TensorRule(context), limit_(static_cast<double>(params.depth)) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const std::string_view name = interner().symbols.text(tensor.name);
    const bool has_ids = name.starts_with("trees/") && name.ends_with("/Node");  // smdebug's hook
    if (!has_ids || tensor.statistics.finite() == 0) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const double depth = std::log2(std::max(tensor.statistics.max, 1.0));
    judge(*track, place, {depth > limit_, depth, limit_}, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "trees"; }

 private:
  double limit_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<TreeDepth, Params>(
      {.id = "tree_depth",
       .scope = Scope::rank,
       .summary = "Trees of an XGBoost model are deep.",
       .doc = "SageMaker's TreeDepth: the logarithm to base 2 of the largest number of a node "
              "in the trees is above `depth`.",
       .on_by_default = false},
      {field("depth", &Params::depth, 0, 64, "Greatest depth.")});
  return spec;
}

}  // namespace trainwatch::tree_depth

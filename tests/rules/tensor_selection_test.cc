// SPDX-License-Identifier: Apache-2.0
// Which tensors collections and expressions select, and what the configuration says of a bad one.
#include "rules/tensor/tensor_selection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/catalog.h"

namespace trainwatch::tensor_selection_test {

struct Named {
  Interner interner;
  std::vector<Symbol> collections;

  bool in(const TensorSelection& selection, std::string_view name,
          const std::vector<std::string>& of = {}) {
    collections.clear();
    for (const std::string& one : of) collections.push_back(interner.symbols.intern(one));
    Tensor tensor;
    tensor.name = interner.symbols.intern(name);
    tensor.collections = collections;
    return selection.has(tensor, interner);
  }
};

TEST(TensorSelection, CollectionsAndExpressionsAreJoined) {
  Named tensors;
  const TensorSelection selection("mine, gradients", "^conv\\d, bias$");
  EXPECT_TRUE(tensors.in(selection, "x", {"mine"}));
  EXPECT_TRUE(tensors.in(selection, "x", {"other", "gradients"}));
  EXPECT_FALSE(tensors.in(selection, "x", {"other"}));
  EXPECT_TRUE(tensors.in(selection, "conv1"));
  EXPECT_FALSE(tensors.in(selection, "a/conv1"));
  EXPECT_TRUE(tensors.in(selection, "fc.bias"));
  EXPECT_FALSE(tensors.in(TensorSelection("", ""), "fc.bias"));
}

TEST(TensorSelection, TheUsualNameCountsWhereTheTrialSaysNothing) {
  Named tensors;
  const TensorSelection gradients("gradients", "");
  EXPECT_TRUE(tensors.in(gradients, "gradient/Net_fc1.weight"));
  EXPECT_FALSE(tensors.in(gradients, "gradient/Net_fc1.weight", {"all"}));
  EXPECT_FALSE(tensors.in(gradients, "Net_fc1.weight"));
  EXPECT_TRUE(tensors.in(TensorSelection("weights", ""), "Net_fc1.weight"));
  EXPECT_FALSE(tensors.in(TensorSelection("weights", ""), "gradient/Net_fc1.weight"));
  EXPECT_TRUE(tensors.in(TensorSelection("losses", ""), "CrossEntropyLoss_output_0"));
  EXPECT_FALSE(tensors.in(TensorSelection("losses", ""), "CrossEntropyLoss_input_0"));
  EXPECT_TRUE(tensors.in(TensorSelection("relu_output", ""), "hybrid0_relu_output"));
}

TEST(TensorSelection, ReductionsAreOtherTensors) {
  Named tensors;
  EXPECT_FALSE(tensors.in(TensorSelection("", "weight"), "smdebug/reductions/mean/fc.weight"));
  EXPECT_EQ(reduced_tensor("smdebug/reductions/abs_mean/gradient/a", "abs_mean"), "gradient/a");
  EXPECT_EQ(reduced_tensor("smdebug/reductions/abs_mean/gradient/a", "abs"), "");
  EXPECT_EQ(reduced_tensor("gradient/a", "abs_mean"), "");
}

TEST(TensorSelection, ABadExpressionIsRefusedByTheConfiguration) {
  RuleConfig rule(*find_rule("exploding_tensor"));
  EXPECT_TRUE(rule.set("tensor_regex", "a.*,^b$").ok());
  const Status bad = rule.set("tensor_regex", "a.*,(b");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "tensor_regex: '(b' is no regular expression: missing ): (b");
  EXPECT_FALSE(rule.set("tensor_regex", "(?=a)").ok());
  std::string many;
  for (int i = 0; i < 33; ++i) many += "a,";
  EXPECT_FALSE(rule.set("tensor_regex", many).ok());
  EXPECT_FALSE(rule.set("collection_names", many).ok());
}

}  // namespace trainwatch::tensor_selection_test

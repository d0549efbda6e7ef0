// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "pipeline/tensors/spectral_norm.h"

namespace trainwatch {
namespace tensor_reduction_test {

using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TensorValue tensor(std::vector<std::int64_t> shape, TensorValue::Values values,
                   const std::string& dtype = "float64") {
  return {dtype, std::move(shape), std::move(values), {}};
}

double reduced(const TensorValue& value, const std::string& reduction) {
  const auto result = reduce(value, reduction);
  EXPECT_TRUE(result.ok()) << reduction << ": " << result.error().message;
  return result ? *result : -1;
}

std::string refusal(const TensorValue& value, const std::string& reduction) {
  const auto result = reduce(value, reduction);
  return result ? "computed" : result.error().message;
}

// By numpy 2.4.6: x.min(), ..., numpy.linalg.norm(x, 1), numpy.linalg.norm(x, 2).
TEST(TensorReduction, OfAMatrixAsNumpyComputesIt) {
  const TensorValue matrix = tensor({2, 3}, Doubles{1.5, -2.0, 0.25, 4.0, -0.5, 3.0});
  const std::map<std::string, double> numpy = {{"min", -2.0},
                                               {"max", 4.0},
                                               {"mean", 1.0416666666666667},
                                               {"std", 2.043366639206538},
                                               {"variance", 4.175347222222222},
                                               {"sum", 6.25},
                                               {"prod", 4.5},
                                               {"l1", 5.5},
                                               {"l2", 5.293132460922946},
                                               {"abs_min", 0.25},
                                               {"abs_max", 4.0},
                                               {"abs_mean", 1.875},
                                               {"abs_std", 1.3209056236789465},
                                               {"abs_variance", 1.7447916666666667},
                                               {"abs_sum", 11.25},
                                               {"abs_prod", 4.5},
                                               {"abs_l1", 5.5},
                                               {"abs_l2", 5.293132460922946}};
  EXPECT_EQ(numpy.size(), reduction_names().size());
  for (const auto& [name, expected] : numpy)
    EXPECT_NEAR(reduced(matrix, name), expected, 1e-13) << name;
}

TEST(TensorReduction, OfAVectorAsNumpyComputesIt) {
  const TensorValue vector = tensor({4}, std::vector<std::int64_t>{3, -4, 12, 1}, "int32");
  const std::map<std::string, double> numpy = {{"min", -4.0},
                                               {"max", 12.0},
                                               {"mean", 3.0},
                                               {"std", 5.787918451395113},
                                               {"variance", 33.5},
                                               {"sum", 12.0},
                                               {"prod", -144.0},
                                               {"l1", 20.0},
                                               {"l2", 13.038404810405298},
                                               {"abs_min", 1.0},
                                               {"abs_max", 12.0},
                                               {"abs_mean", 5.0},
                                               {"abs_std", 4.183300132670378},
                                               {"abs_variance", 17.5},
                                               {"abs_sum", 20.0},
                                               {"abs_prod", 144.0},
                                               {"abs_l1", 20.0},
                                               {"abs_l2", 13.038404810405298}};
  for (const auto& [name, expected] : numpy)
    EXPECT_NEAR(reduced(vector, name), expected, 1e-13) << name;
}

TEST(TensorReduction, OfWhatIsNotFinite) {
  const double nan = std::nan("");
  const TensorValue with_nan = tensor({2, 2}, Doubles{1, nan, -5, 2});
  for (const char* name : {"min", "max", "mean", "sum", "prod", "std", "l1", "abs_max"})
    EXPECT_TRUE(std::isnan(reduced(with_nan, name))) << name;
  EXPECT_EQ(refusal(with_nan, "l2"), "l2 of a matrix needs finite numbers");
  const TensorValue endless = tensor({3}, Doubles{1, -kInfinity, 2});
  EXPECT_EQ(reduced(endless, "min"), -kInfinity);
  EXPECT_EQ(reduced(endless, "mean"), -kInfinity);
  EXPECT_EQ(reduced(endless, "l2"), kInfinity);
  EXPECT_TRUE(std::isnan(reduced(endless, "variance")));
}

TEST(TensorReduction, OfNothing) {
  const TensorValue none = tensor({0}, Doubles{});
  EXPECT_EQ(reduced(none, "sum"), 0);
  EXPECT_EQ(reduced(none, "prod"), 1);
  EXPECT_EQ(reduced(none, "l2"), 0);
  EXPECT_TRUE(std::isnan(reduced(none, "mean")));
  EXPECT_EQ(refusal(none, "max"), "max of a tensor without elements");
  EXPECT_EQ(refusal(tensor({0, 2}, Doubles{}), "l1"), "l1 of a matrix without elements");
}

TEST(TensorReduction, WhatIsNotDefinedIsRefused) {
  EXPECT_EQ(refusal(tensor({1, 2, 1}, Doubles{1, 2}), "l2"),
            "l2 is a norm of vectors and matrices; this tensor has 3 dimensions");
  EXPECT_EQ(refusal(tensor({}, Doubles{1}), "abs_l1"),
            "l1 is a norm of vectors and matrices; this tensor has 0 dimensions");
  EXPECT_EQ(refusal(tensor({1}, std::vector<std::string>{"a"}, "<U1"), "min"),
            "strings have no min");
  EXPECT_EQ(refusal(tensor({1}, Doubles{1}), "median"), "no reduction is called so");
  EXPECT_EQ(reduced(tensor({}, Doubles{-3}), "abs_mean"), 3);
}

TEST(TensorReduction, OfComplexNumbersOnlyTheirMagnitudes) {
  TensorValue complex = tensor({2}, Doubles{3, 0}, "complex64");
  complex.imaginary = {-4, 1};
  EXPECT_EQ(reduced(complex, "abs_max"), 5);
  EXPECT_EQ(reduced(complex, "l1"), 6);
  EXPECT_DOUBLE_EQ(reduced(complex, "l2"), std::sqrt(26.0));
  EXPECT_EQ(refusal(complex, "mean"),
            "mean of complex numbers; only of their magnitudes, as abs_mean");
}

// Where a mean of squares minus the square of the mean would be 0 or negative.
TEST(TensorReduction, TheVarianceOfLargeNumbersIsExact) {
  EXPECT_DOUBLE_EQ(reduced(tensor({3}, Doubles{1e9 + 1, 1e9 + 2, 1e9 + 3}), "variance"), 2.0 / 3);
}

TEST(TensorReduction, AnythingSmallOrLargeHasALength) {
  EXPECT_DOUBLE_EQ(reduced(tensor({2}, Doubles{3e-200, 4e-200}), "l2"), 5e-200);
  EXPECT_DOUBLE_EQ(reduced(tensor({2, 2}, Doubles{3e200, 0, 0, 4e200}), "l2"), 4e200);
}

// Of known matrices; those of Hilbert by numpy.
TEST(SpectralNorm, OfKnownMatrices) {
  EXPECT_NEAR(largest_singular_value({3, 0, 4, 5}, 2, 2), std::sqrt(45.0), 1e-13);
  EXPECT_EQ(largest_singular_value({0, 0}, 1, 2), 0);
  EXPECT_DOUBLE_EQ(largest_singular_value({3, 4}, 2, 1), 5);
  for (const auto& [size, numpy] : std::map<std::size_t, double>{
           {1, 1.0}, {3, 1.408318927123654}, {12, 1.7953720595619977}, {150, 2.23788117150694}}) {
    Doubles hilbert;
    for (std::size_t at = 0; at < size * size; ++at)
      hilbert.push_back(1.0 / static_cast<double>(at / size + at % size + 1));
    EXPECT_NEAR(largest_singular_value(hilbert, size, size), numpy, 1e-12) << size;
  }
}

// The values of numpy.linalg.norm(x, 2), x = sin(0), sin(1), ... in 40 rows of 70, and transposed.
TEST(SpectralNorm, EitherSideMayBeTheLongerOne) {
  Doubles wide;
  for (int at = 0; at < 2800; ++at) wide.push_back(std::sin(at));
  EXPECT_NEAR(largest_singular_value(wide, 40, 70), 26.6024194285002, 1e-11);
  EXPECT_NEAR(largest_singular_value(wide, 70, 40), 26.563516777786955, 1e-11);
}

// All singular values are the same.
TEST(SpectralNorm, OfAnIdentity) {
  Doubles identity(400 * 400);
  for (std::size_t at = 0; at < 400; ++at) identity[at * 401] = 2.5;
  EXPECT_NEAR(largest_singular_value(identity, 400, 400), 2.5, 1e-13);
}

}  // namespace tensor_reduction_test
}  // namespace trainwatch

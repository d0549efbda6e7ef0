// SPDX-License-Identifier: Apache-2.0
// What a tensor is reduced to: one number, as numpy computes it from the values that were saved.
// (What a job saved as a reduction was computed by its framework, which may define it otherwise;
// see docs/decisions/tensors.md.)
#pragma once

#include <span>
#include <string_view>

#include "pipeline/tensors/tensor_value.h"
#include "trainwatch/result.h"

namespace trainwatch {

// min max mean std variance sum prod l1 l2, and each of absolute values as abs_...
std::span<const std::string_view> reduction_names();
bool is_reduction(std::string_view name);

// std and variance are of the population. l1 and l2 are norms: of a vector the sum of magnitudes
// and the Euclidean length, of a matrix the largest sum of magnitudes in a column and the largest
// singular value. NaN passes through, but the last one needs finite numbers. Integers are computed
// as doubles, so that nothing wraps.
// Fails for strings, for norms of what is neither vector nor matrix, and for what is not defined
// without elements or of complex numbers.
Result<double> reduce(const TensorValue& value, std::string_view reduction);

}  // namespace trainwatch

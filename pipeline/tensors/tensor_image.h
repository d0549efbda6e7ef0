// SPDX-License-Identifier: Apache-2.0
// A matrix as a picture: grey from its smallest to its largest finite number.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/tensors/tensor_value.h"
#include "trainwatch/result.h"

namespace trainwatch {

inline constexpr std::size_t kMostPixels = std::size_t{1} << 24U;

// A PNG (W3C PNG, third edition; 8 bits, with a palette), one pixel per number, row 0 on top; a
// vector is one row. NaN is red, infinity orange, minus infinity blue. Where all numbers are the
// same they are of middle grey. Fails for strings, complex numbers, other numbers of dimensions,
// nothing, and more than kMostPixels.
Result<std::string> to_png(const TensorValue& value);

}  // namespace trainwatch

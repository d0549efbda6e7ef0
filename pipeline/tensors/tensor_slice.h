// SPDX-License-Identifier: Apache-2.0
// A part of a tensor, written as Python writes it: "3,:,2:10" or "-1".
#pragma once

#include <string_view>

#include "pipeline/tensors/tensor_value.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Per dimension a number, which drops the dimension and counts from the end if it is negative, or
// begin:end, either of which may be missing; dimensions that are not named are whole. A number
// outside its dimension is an error, a range is cut.
Result<TensorValue> slice_tensor(const TensorValue& value, std::string_view slice);

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// numpy's file format, version 1.0 (numpy.lib.format), so that numpy.load() reads a tensor.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/tensors/tensor_value.h"
#include "trainwatch/result.h"

namespace trainwatch {

// bfloat16, which numpy does not have, becomes float32; strings become arrays of `<U...`. Every
// value is exact, but the bits of a NaN are not kept.
Result<std::string> to_npy(const TensorValue& value);

// Bytes of an element in the file.
std::size_t npy_element_bytes(const TensorValue& value);

}  // namespace trainwatch

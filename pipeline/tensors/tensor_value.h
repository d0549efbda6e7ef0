// SPDX-License-Identifier: Apache-2.0
// The value of a tensor as TensorFlow and SageMaker Debugger save it: one TFRecord with an event,
// whose summary has one value, a TensorProto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainwatch/result.h"

namespace trainwatch {

struct TensorValue {
  // Row-major. float32 and narrower are exact as doubles; booleans are 0 and 1.
  using Values = std::variant<std::vector<double>, std::vector<std::int64_t>,
                              std::vector<std::uint64_t>, std::vector<std::string>>;

  std::string dtype;  // numpy's name: float32, bfloat16, bool, <U3
  std::vector<std::int64_t> shape;
  Values values;
  std::vector<double> imaginary;  // complex numbers only: `values` are their real parts
};

// `record` is one whole record: header, payload, checksum. The checksum of the payload may be its
// own or the constant that SageMaker Debugger writes. The error says what is wrong with the record.
Result<TensorValue> read_tensor_record(std::string_view record);

// Bytes of an element in tensor_content, by TensorProto's DataType; 0: unknown, or never there.
std::size_t stored_element_bytes(int type);
// numpy's name of it, "string" for texts; empty: unknown.
std::string_view stored_type_name(int type);

}  // namespace trainwatch

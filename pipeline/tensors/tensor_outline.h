// SPDX-License-Identifier: Apache-2.0
// What a record says of its tensor before the values are decoded: its type, its shape, and how much
// memory decoding takes. Of a large tensor the beginning of the record is enough for the first two.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace trainwatch {

struct TensorOutline {
  int type = 0;                                    // TensorProto's DataType
  std::optional<std::vector<std::int64_t>> shape;  // nullopt: it has none, or not in these bytes
  // At most so many bytes does read_tensor_record() use beside the record, if these bytes are all
  // of it.
  std::uint64_t decoded_bytes = 0;
};

// `record` is a record or its beginning. nullopt: no tensor is in it. Nothing is verified.
std::optional<TensorOutline> outline_tensor(std::string_view record);

}  // namespace trainwatch

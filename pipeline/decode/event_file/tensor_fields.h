// SPDX-License-Identifier: Apache-2.0
// The fields of event.proto, summary.proto and tensor.proto of TensorFlow that are read, by
// message.
#pragma once

#include <protozero/types.hpp>

namespace trainwatch::tensor_field {

enum Event : protozero::pbf_tag_type { wall_time = 1, step = 2, summary = 5 };
enum Summary : protozero::pbf_tag_type { value = 1 };
enum Value : protozero::pbf_tag_type { tag = 1, simple_value = 2, tensor = 8, metadata = 9 };
enum Tensor : protozero::pbf_tag_type {
  dtype = 1,
  shape = 2,
  content = 4,
  floats = 5,
  doubles = 6,
  ints = 7,
  texts = 8,
  complex64s = 9,
  int64s = 10,
  booleans = 11,
  complex128s = 12,
  halves = 13,
  uint32s = 16,
  uint64s = 17
};
enum Shape : protozero::pbf_tag_type { dimension = 2 };
enum Dimension : protozero::pbf_tag_type { size = 1 };
enum Metadata : protozero::pbf_tag_type { plugin_data = 1 };
enum Plugin : protozero::pbf_tag_type { plugin_name = 1, plugin_content = 2 };

}  // namespace trainwatch::tensor_field

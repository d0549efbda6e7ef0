// SPDX-License-Identifier: Apache-2.0
// Writes TensorBoard event files, for tests: records with their checksums, and the events in them.
#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/event_file/crc32c.h"

namespace trainwatch::testing {

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// `checksum` in place of the payload's own.
inline std::string tf_record(std::string_view payload, std::uint32_t checksum) {
  const std::string length = bytes_of(std::uint64_t{payload.size()});
  return length + bytes_of(masked_crc32c(length)) + std::string(payload) + bytes_of(checksum);
}
inline std::string tf_record(std::string_view payload) {
  return tf_record(payload, masked_crc32c(payload));
}

inline std::string event(double wall_time, std::int64_t step, std::string_view summary) {
  std::string payload;
  protozero::pbf_writer writer{payload};
  writer.add_double(1, wall_time);
  writer.add_int64(2, step);
  writer.add_message(5, summary.data(), summary.size());
  return payload;
}

inline std::string version_event(double wall_time) {
  std::string payload;
  protozero::pbf_writer writer{payload};
  writer.add_double(1, wall_time);
  writer.add_string(3, "brain.Event:2");
  return payload;
}

// A Summary with one value as older writers have it.
inline std::string simple_value(std::string_view tag, float value) {
  std::string summary;
  protozero::pbf_writer writer{summary};
  protozero::pbf_writer entry{writer, 1};
  entry.add_string(1, tag.data(), tag.size());
  entry.add_float(2, value);
  return summary;
}

// A Summary with one tensor; `fields` are those of the TensorProto behind its type.
inline std::string tensor_value(std::string_view tag, std::int32_t type, std::string_view fields) {
  std::string summary;
  protozero::pbf_writer writer{summary};
  protozero::pbf_writer entry{writer, 1};
  entry.add_string(1, tag.data(), tag.size());
  std::string tensor;
  protozero::pbf_writer{tensor}.add_enum(1, type);
  tensor += fields;
  entry.add_message(8, tensor);
  return summary;
}

inline std::string tensor_content(std::string_view content) {
  std::string fields;
  protozero::pbf_writer{fields}.add_bytes(4, content.data(), content.size());
  return fields;
}

inline std::string tensor_shape(const std::vector<std::int64_t>& sizes) {
  std::string fields;
  protozero::pbf_writer writer{fields};
  protozero::pbf_writer shape{writer, 2};
  for (const std::int64_t size : sizes) {
    protozero::pbf_writer dimension{shape, 2};
    dimension.add_int64(1, size);
    dimension.add_string(2, "name_" + std::to_string(size));
  }
  return fields;
}

// What SageMaker Debugger puts into a Summary's value: `fields` as above, mode 1 to 4.
inline std::string trial_value(std::string_view tag, std::int32_t type, std::string_view fields,
                               int mode, int mode_step) {
  std::string summary;
  protozero::pbf_writer writer{summary};
  protozero::pbf_writer entry{writer, 1};
  entry.add_string(1, tag.data(), tag.size());
  std::string tensor;
  protozero::pbf_writer{tensor}.add_enum(1, type);
  tensor += fields;
  entry.add_message(8, tensor);
  protozero::pbf_writer metadata{entry, 9};
  for (const auto& [name, number] : {std::pair{"mode_step", mode_step}, std::pair{"mode", mode}}) {
    protozero::pbf_writer plugin{metadata, 1};
    plugin.add_string(1, name);
    plugin.add_string(2, std::to_string(number));
  }
  return summary;
}

template <class Number>
std::string content_of(const std::vector<Number>& numbers) {
  return tensor_content(
      {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

// With the checksum that SageMaker Debugger writes.
inline std::string trial_record(double wall_time, std::int64_t step, std::string_view summary) {
  return tf_record(event(wall_time, step, summary), 0x062DC0B3U);
}

}  // namespace trainwatch::testing

// SPDX-License-Identifier: Apache-2.0
// Writes tensors as TensorFlow and SageMaker Debugger do: a record with an event, whose summary has
// one value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::tensor_record {

enum class Checksum { own, constant };

// Bit by bit, so that it shares nothing with the table of the reader.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) * 0x82f63b78U);
  }
  crc = ~crc;
  return ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A record around a payload.
inline std::string frame(const std::string& payload, Checksum checksum = Checksum::own) {
  const std::string length = bytes_of(std::vector<std::uint64_t>{payload.size()});
  const std::uint32_t crc = checksum == Checksum::own ? masked_crc32c(payload) : 103661747U;
  return length + bytes_of(std::vector<std::uint32_t>{masked_crc32c(length)}) + payload +
         bytes_of(std::vector<std::uint32_t>{crc});
}

// A TensorProto as an event with one value.
inline std::string event(const std::string& tensor) {
  std::string value;
  protozero::pbf_writer{value}.add_string(1, "loss");
  protozero::pbf_writer{value}.add_message(8, tensor);
  std::string summary;
  protozero::pbf_writer{summary}.add_message(1, value);
  std::string result;
  protozero::pbf_writer writer{result};
  writer.add_double(1, 1.5e9);
  writer.add_int64(2, 3);
  writer.add_message(5, summary);
  return result;
}

// The beginning of a TensorProto: its type and shape.
inline std::string tensor(int type, const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) {
    std::string dimension;
    protozero::pbf_writer{dimension}.add_int64(1, size);
    protozero::pbf_writer{sizes}.add_message(2, dimension);
  }
  std::string result;
  protozero::pbf_writer writer{result};
  writer.add_enum(1, type);
  writer.add_message(2, sizes);
  return result;
}

inline std::string with_content(std::string proto, const std::string& content) {
  protozero::pbf_writer{proto}.add_bytes(4, content);
  return proto;
}

}  // namespace trainwatch::tensor_record

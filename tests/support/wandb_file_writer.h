// SPDX-License-Identifier: Apache-2.0
// Writes `.wandb` files, for tests: chunks with their checksums, and the records in them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace trainwatch::testing {

enum class WandbChunk : std::uint8_t { full = 1, first = 2, middle = 3, last = 4 };

inline std::string wandb_header() {
  return {":W&B\xE1\xBE\0", 7};
}

inline std::string wandb_chunk(std::string_view data, WandbChunk type = WandbChunk::full) {
  const std::string covered = static_cast<char>(type) + std::string{data};
  const auto checksum = static_cast<std::uint32_t>(::crc32(
      0, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size())));
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((checksum >> shift) & 0xFFU);
  }
  bytes += static_cast<char>(data.size() & 0xFFU);
  bytes += static_cast<char>(data.size() >> 8U);
  return bytes + covered;
}

// Name and JSON text.
using WandbItems = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// `key_field`: 1, or 2 as newer writers have it for history.
inline std::string wandb_items(protozero::pbf_tag_type field, protozero::pbf_tag_type key_field,
                               WandbItems items) {
  std::string bytes;
  for (const auto& [key, json] : items) {
    std::string item;
    protozero::pbf_writer writer{item};
    writer.add_string(key_field, key.data(), key.size());
    writer.add_string(16, json.data(), json.size());
    protozero::pbf_writer{bytes}.add_message(field, item);
  }
  return bytes;
}

inline std::string wandb_record(protozero::pbf_tag_type field, std::string_view content) {
  std::string bytes;
  protozero::pbf_writer{bytes}.add_message(field, content.data(), content.size());
  return bytes;
}

inline std::string wandb_history(WandbItems items, protozero::pbf_tag_type key_field = 2) {
  return wandb_record(2, wandb_items(1, key_field, items));
}

inline std::string wandb_run(std::string_view host) {
  std::string run;
  protozero::pbf_writer{run}.add_string(13, host.data(), host.size());
  return wandb_record(17, run);
}

// The version of the library that writes the file.
inline std::string wandb_version(std::string_view producer) {
  std::string version;
  protozero::pbf_writer{version}.add_string(1, producer.data(), producer.size());
  std::string info;
  protozero::pbf_writer{info}.add_message(1, version);
  return wandb_record(21, info);
}

inline std::string wandb_stats(std::int64_t seconds, std::int64_t nanoseconds, WandbItems items) {
  std::string time;
  protozero::pbf_writer writer{time};
  writer.add_int64(1, seconds);
  writer.add_int64(2, nanoseconds);
  std::string stats;
  protozero::pbf_writer{stats}.add_message(2, time);
  return wandb_record(7, stats + wandb_items(3, 1, items));
}

}  // namespace trainwatch::testing

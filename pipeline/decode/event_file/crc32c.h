// CRC-32C (Castagnoli), and its masked form, in which TensorFlow's record files keep it.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch {

std::uint32_t crc32c(std::string_view bytes);

// As TensorFlow masks it (its hash/crc32c): a checksum that is stored beside its bytes is rotated
// and moved, so that checksums of bytes with checksums in them stay good ones.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
}

}  // namespace trainwatch

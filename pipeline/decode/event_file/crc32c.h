// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), and its masked form, in which TensorFlow's record files keep it.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

// How it is computed, the faster the later; all give the same. What the processor has is used.
enum class CrcMethod : std::uint8_t {
  table,
  instruction,  // of x86-64, SSE 4.2
  folding,      // with carry-less products of 128 bits
  wide_folding  // of 512 bits
};
bool has(CrcMethod method);
// The register behind more bytes. `method`: one that the processor has.
std::uint32_t behind(std::uint32_t crc, std::string_view bytes, CrcMethod method);

// Of bytes that come in pieces.
class Crc32c {
 public:
  void add(std::string_view bytes);
  std::uint32_t value() const { return ~crc_; }
  // As TensorFlow masks it (its hash/crc32c): a checksum that is stored beside its bytes is rotated
  // and moved, so that checksums of bytes with checksums in them stay good ones.
  std::uint32_t masked() const {
    const std::uint32_t crc = value();
    return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
  }
  void state(StateIo& io) { io(crc_); }

 private:
  std::uint32_t crc_ = ~0U;
};

inline std::uint32_t crc32c(std::string_view bytes) {
  Crc32c crc;
  crc.add(bytes);
  return crc.value();
}

inline std::uint32_t masked_crc32c(std::string_view bytes) {
  Crc32c crc;
  crc.add(bytes);
  return crc.masked();
}

}  // namespace trainwatch

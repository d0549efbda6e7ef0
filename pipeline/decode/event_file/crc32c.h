// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), by ISA-L where it is linked, else by a table; and its masked form, in which
// TensorFlow's record files keep it.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

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

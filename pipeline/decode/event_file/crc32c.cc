// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/crc32c.h"

#if defined(TRAINWATCH_HAVE_ISAL)
#include <isa-l/crc.h>

#include <cstddef>
#else
#include <array>
#endif

namespace trainwatch {

#if defined(TRAINWATCH_HAVE_ISAL)

// ISA-L names it after iSCSI. It takes and returns the register as it is, and the length as an int.
void Crc32c::add(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMost);
    auto* begin = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    crc_ = crc32_iscsi(begin, static_cast<int>(piece.size()), crc_);
    bytes.remove_prefix(piece.size());
  }
}

#else

namespace {

using CrcTable = std::array<std::uint32_t, 256>;

constexpr CrcTable make_table() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78U;  // reflected
  CrcTable table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) * kPolynomial);
    table[byte] = crc;
  }
  return table;
}

}  // namespace

void Crc32c::add(std::string_view bytes) {
  static constexpr CrcTable kTable = make_table();
  for (const char c : bytes) {
    crc_ = kTable[(crc_ ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc_ >> 8U);
  }
}

#endif

}  // namespace trainwatch

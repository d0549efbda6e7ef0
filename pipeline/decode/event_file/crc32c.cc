#include "pipeline/decode/event_file/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace trainwatch {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78U;  // reflected
using CrcTable = std::array<std::uint32_t, 256>;

// The checksum register behind `bits` zero bits more.
constexpr std::uint32_t behind_zeros(std::uint32_t crc, int bits) {
  for (int bit = 0; bit < bits; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
  return crc;
}

constexpr CrcTable make_table() {
  CrcTable table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) table[byte] = behind_zeros(byte, 8);
  return table;
}

std::uint32_t by_table(std::uint32_t crc, std::string_view bytes) {
  static constexpr CrcTable kTable = make_table();
  for (const char c : bytes)
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8U);
  return crc;
}

#if defined(__x86_64__)
// The instruction takes three cycles and starts every cycle: three stretches of this length are
// summed side by side, and their checksums joined.
constexpr std::size_t kStretch = 1024;

// Passing a checksum over kStretch zero bytes is linear: a table for each of its bytes.
using ShiftTables = std::array<CrcTable, 4>;
ShiftTables make_shift_tables() {
  const std::string zeros(kStretch, '\0');
  std::array<std::uint32_t, 32> of_bit{};
  for (std::uint32_t bit = 0; bit < of_bit.size(); ++bit)
    of_bit[bit] = by_table(std::uint32_t{1} << bit, zeros);
  ShiftTables tables{};
  for (std::uint32_t byte = 0; byte < tables.size(); ++byte) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      for (std::uint32_t bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1U) != 0) tables[byte][value] ^= of_bit[8 * byte + bit];
      }
    }
  }
  return tables;
}

std::uint32_t shifted(const ShiftTables& tables, std::uint32_t crc) {
  return tables[0][crc & 0xFFU] ^ tables[1][crc >> 8U & 0xFFU] ^ tables[2][crc >> 16U & 0xFFU] ^
         tables[3][crc >> 24U];
}

[[gnu::always_inline]] inline std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t begun,
                                                               std::string_view bytes) {
  static const ShiftTables kShift = make_shift_tables();
  std::uint64_t crc = begun;
  for (; bytes.size() >= 3 * kStretch; bytes.remove_prefix(3 * kStretch)) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    const char* const data = bytes.data();
    for (std::size_t at = 0; at < kStretch; at += sizeof(std::uint64_t)) {
      crc = _mm_crc32_u64(crc, word_at(data + at));
      second = _mm_crc32_u64(second, word_at(data + kStretch + at));
      third = _mm_crc32_u64(third, word_at(data + 2 * kStretch + at));
    }
    crc = shifted(kShift, static_cast<std::uint32_t>(crc)) ^ second;
    crc = shifted(kShift, static_cast<std::uint32_t>(crc)) ^ third;
  }
  for (; bytes.size() >= sizeof crc; bytes.remove_prefix(sizeof crc))
    crc = _mm_crc32_u64(crc, word_at(bytes.data()));
  auto rest = static_cast<std::uint32_t>(crc);
  for (const char c : bytes) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(c));
  return rest;
}
#endif

}  // namespace

void Crc32c::add(std::string_view bytes) {
#if defined(__x86_64__)
  static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (kHasInstruction) {
    crc_ = by_instruction(crc_, bytes);
    return;
  }
#endif
  crc_ = by_table(crc_, bytes);
}

}  // namespace trainwatch

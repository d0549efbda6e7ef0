// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

#if defined(__x86_64__)
#include <immintrin.h>
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
[[gnu::always_inline]] inline std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::uint32_t begun,
                                                       std::string_view bytes) {
  std::uint64_t crc = begun;
  for (; bytes.size() >= sizeof crc; bytes.remove_prefix(sizeof crc))
    crc = _mm_crc32_u64(crc, word_at(bytes.data()));
  auto rest = static_cast<std::uint32_t>(crc);
  for (const char c : bytes) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(c));
  return rest;
}

// Folding (Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ, Intel 2009):
// 16 bytes count as much as others that stand `bits` further on, which are the carry-less products
// of their halves with these two powers of x modulo the polynomial. What is left in the end is as
// short as the registers, and is summed by the instruction.
constexpr std::int64_t power(int bits) {
  return static_cast<std::int64_t>(std::uint64_t{behind_zeros(0x80000000U, bits)} << 1U);
}
constexpr std::int64_t power_of_low_half(int bits) {
  return power(bits + 32);
}
constexpr std::int64_t power_of_high_half(int bits) {
  return power(bits - 32);
}

constexpr std::size_t kFolded128 = 8 * sizeof(__m128i);
[[gnu::target("pclmul,sse4.2")]] std::uint32_t fold_by_128(std::uint32_t crc,
                                                           std::string_view bytes) {
  constexpr int kBits = 8 * kFolded128;
  const __m128i powers = _mm_set_epi64x(power_of_high_half(kBits), power_of_low_half(kBits));
  __m128i sums[8];
  std::memcpy(sums, bytes.data(), sizeof sums);
  sums[0] = _mm_xor_si128(sums[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  bytes.remove_prefix(sizeof sums);
  for (; bytes.size() >= sizeof sums; bytes.remove_prefix(sizeof sums)) {
    for (std::size_t i = 0; i < std::size(sums); ++i) {
      __m128i next;
      std::memcpy(&next, bytes.data() + i * sizeof next, sizeof next);
      const __m128i low = _mm_clmulepi64_si128(sums[i], powers, 0x00);
      const __m128i high = _mm_clmulepi64_si128(sums[i], powers, 0x11);
      sums[i] = _mm_xor_si128(_mm_xor_si128(low, high), next);
    }
  }
  std::array<char, sizeof sums> left;
  std::memcpy(left.data(), sums, sizeof sums);
  return by_instruction(by_instruction(0, {left.data(), left.size()}), bytes);
}

// The same, four times as wide.
constexpr std::size_t kFolded512 = 4 * sizeof(__m512i);
[[gnu::target("avx512f,vpclmulqdq,pclmul,sse4.2")]] std::uint32_t fold_by_512(
    std::uint32_t crc, std::string_view bytes) {
  constexpr int kBits = 8 * kFolded512;
  const __m512i powers = _mm512_set4_epi64(power_of_high_half(kBits), power_of_low_half(kBits),
                                           power_of_high_half(kBits), power_of_low_half(kBits));
  __m512i sums[4];
  std::memcpy(sums, bytes.data(), sizeof sums);
  const __m512i begun = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc)));
  sums[0] = _mm512_xor_si512(sums[0], begun);
  bytes.remove_prefix(sizeof sums);
  for (; bytes.size() >= sizeof sums; bytes.remove_prefix(sizeof sums)) {
    for (std::size_t i = 0; i < std::size(sums); ++i) {
      __m512i next;
      std::memcpy(&next, bytes.data() + i * sizeof next, sizeof next);
      const __m512i low = _mm512_clmulepi64_epi128(sums[i], powers, 0x00);
      const __m512i high = _mm512_clmulepi64_epi128(sums[i], powers, 0x11);
      sums[i] = _mm512_xor_si512(_mm512_xor_si512(low, high), next);
    }
  }
  std::array<char, sizeof sums> left;
  std::memcpy(left.data(), sums, sizeof sums);
  return by_instruction(by_instruction(0, {left.data(), left.size()}), bytes);
}
#endif

}  // namespace

bool has(CrcMethod method) {
  if (method == CrcMethod::table) return true;
#if defined(__x86_64__)
  const bool instruction = __builtin_cpu_supports("sse4.2") != 0;
  const bool folding = instruction && __builtin_cpu_supports("pclmul") != 0;
  if (method == CrcMethod::instruction) return instruction;
  if (method == CrcMethod::folding) return folding;
  return folding && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("vpclmulqdq") != 0;
#else
  return false;
#endif
}

std::uint32_t behind(std::uint32_t crc, std::string_view bytes, CrcMethod method) {
#if defined(__x86_64__)
  if (method == CrcMethod::wide_folding && bytes.size() >= kFolded512) {
    return fold_by_512(crc, bytes);
  }
  if (method >= CrcMethod::folding && bytes.size() >= kFolded128) return fold_by_128(crc, bytes);
  if (method >= CrcMethod::instruction) return by_instruction(crc, bytes);
#endif
  return by_table(crc, bytes);
}

void Crc32c::add(std::string_view bytes) {
  static const CrcMethod kBest = has(CrcMethod::wide_folding)  ? CrcMethod::wide_folding
                                 : has(CrcMethod::folding)     ? CrcMethod::folding
                                 : has(CrcMethod::instruction) ? CrcMethod::instruction
                                                               : CrcMethod::table;
  crc_ = behind(crc_, bytes, kBest);
}

}  // namespace trainwatch

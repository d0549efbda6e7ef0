// SPDX-License-Identifier: Apache-2.0
// Comparing and searching texts so short that a call of memcmp() or memchr() would cost most.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace trainwatch {

// As the machine stores it.
template <class Word>
[[gnu::always_inline]] inline Word load(const char* p) {
  Word word = 0;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// std::memcmp() == 0
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  const auto same = [&]<class Word>(Word, std::size_t at) {
    return load<Word>(a + at) == load<Word>(b + at);
  };
  if (size >= 8) {
    for (std::size_t at = 0; at < size - 8; at += 8) {
      if (!same(std::uint64_t{}, at)) return false;
    }
    return same(std::uint64_t{}, size - 8);  // some of them once more
  }
  if (size >= 4) return same(std::uint32_t{}, 0) && same(std::uint32_t{}, size - 4);
  if (size >= 2) return same(std::uint16_t{}, 0) && same(std::uint16_t{}, size - 2);
  return size == 0 || *a == *b;
}

// The high bit of each byte that is `c`. Only the lowest bit is exact: bits above it may be false.
constexpr std::uint64_t bytes_equal(std::uint64_t word, char c) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHigh = 0x8080808080808080ULL;
  const std::uint64_t other = word ^ (kOnes * static_cast<unsigned char>(c));
  return (other - kOnes) & ~other & kHigh;
}

#if defined(__SSE2__)
// A bit for each of 16 bytes that is `a` or `b`.
inline unsigned either_in_16(const char* p, char a, char b) {
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i found =
      _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8(a)), _mm_cmpeq_epi8(text, _mm_set1_epi8(b)));
  return static_cast<unsigned>(_mm_movemask_epi8(found));
}
#endif

// The first `a` or `b` in [from, end), or `end`.
inline const char* find_either(const char* from, const char* end, char a, char b) {
#if defined(__SSE2__)
  for (; end - from >= 16; from += 16) {
    const auto hit = either_in_16(from, a, b);
    if (hit != 0) return from + std::countr_zero(hit);
  }
#endif
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - from >= 8; from += 8) {
      const auto word = load<std::uint64_t>(from);
      const std::uint64_t hit = bytes_equal(word, a) | bytes_equal(word, b);
      if (hit != 0) return from + std::countr_zero(hit) / 8;
    }
  }
  while (from != end && *from != a && *from != b) ++from;
  return from;
}

// The first in [from, end) that is neither `a` nor `b`, or `end`.
inline const char* find_neither(const char* from, const char* end, char a, char b) {
#if defined(__SSE2__)
  for (; end - from >= 16; from += 16) {
    const auto other = either_in_16(from, a, b) ^ 0xFFFFU;
    if (other != 0) return from + std::countr_zero(other);
  }
#endif
  while (from != end && (*from == a || *from == b)) ++from;
  return from;
}

// The first comma, closing bracket or brace, white space or control character in [from, end), or
// `end`.
inline const char* find_bare_end(const char* from, const char* end) {
#if defined(__SSE2__)
  for (; end - from >= 16; from += 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i space = _mm_set1_epi8(' ');  // ']' | ' ' == '}'
    const __m128i comma = _mm_cmpeq_epi8(text, _mm_set1_epi8(','));
    const __m128i closing = _mm_cmpeq_epi8(_mm_or_si128(text, space), _mm_set1_epi8('}'));
    const __m128i blank = _mm_cmpeq_epi8(_mm_min_epu8(text, space), text);
    const auto hit =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(comma, closing), blank)));
    if (hit != 0) return from + std::countr_zero(hit);
  }
#endif
  const auto ends = [](char c) {
    return c == ',' || c == '}' || c == ']' || static_cast<unsigned char>(c) <= ' ';
  };
  while (from != end && !ends(*from)) ++from;
  return from;
}

// text.find(c)
inline std::size_t find_near(std::string_view text, char c) {
  const char* const end = text.data() + text.size();
  const char* const found = find_either(text.data(), end, c, c);
  return found != end ? static_cast<std::size_t>(found - text.data()) : std::string_view::npos;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Makes text from outside (names in files, names of files) fit for JSON, metric labels, logs and
// terminals. It is applied where such text enters a table that others print from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainwatch {

// Characters that change how the text around them is laid out: those of the bidirectional
// algorithm (UAX #9: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), which mirror the
// words beside a name, and the separators of lines and paragraphs (U+2028, U+2029).
constexpr bool changes_layout(std::uint32_t character) {
  return character == 0x061C || character == 0x200E || character == 0x200F ||
         (character >= 0x2028 && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

// The length of the UTF-8 sequence of the character at the beginning of `text`; 0 if that is a
// control character (C0, DEL, C1), changes the layout of others, or is not UTF-8 (RFC 3629: no
// overlong forms, no surrogates, nothing beyond U+10FFFF).
inline std::size_t printable_prefix(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
  const unsigned second = byte(1);
  if (first < 0xE0) {
    const bool c1 = first == 0xC2 && second < 0xA0;
    return c1 || changes_layout((first & 0x1FU) << 6U | (second & 0x3FU)) ? 0 : 2;
  }
  if (!continues(2)) return 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    const std::uint32_t character =
        (first & 0x0FU) << 12U | (second & 0x3FU) << 6U | (byte(2) & 0x3FU);
    return overlong || surrogate || changes_layout(character) ? 0 : 3;
  }
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || beyond || !continues(3) ? 0 : 4;
}

inline bool is_valid_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = printable_prefix(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

// Every byte that is no part of a printable character becomes \xNN.
inline std::string valid_text(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (;;) {
    std::size_t printable = 0;
    while (const std::size_t size = printable_prefix(text.substr(printable))) printable += size;
    out.append(text.data(), printable);
    if (printable == text.size()) return out;
    const auto byte = static_cast<unsigned char>(text[printable]);
    out += "\\x";
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
    text.remove_prefix(printable + 1);
  }
}

// The same in at most `most` bytes, at least 32. What is longer ends with "~" and a hash (FNV-1a)
// of the whole, so that long names which begin alike remain different.
inline std::string valid_name(std::string_view text, std::size_t most) {
  // Escaping may make a text four times as long.
  std::string out = valid_text(text.size() > most ? text.substr(0, most) : text);
  if (text.size() <= most && out.size() <= most) return out;
  static constexpr char kHex[] = "0123456789abcdef";
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  std::size_t kept = most - 17;
  while (kept > 0 && (static_cast<unsigned char>(out[kept]) & 0xC0U) == 0x80U) --kept;
  out.resize(kept);
  out += '~';
  for (unsigned shift = 64; shift > 0; shift -= 4) out += kHex[(hash >> (shift - 4)) & 15U];
  return out;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/columns.h"

#include <algorithm>

namespace trainwatch {
namespace {

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
}

// Of the character that begins with this byte: those of three bytes are narrow below U+3000
// (blocks, arrows, dashes), and of four bytes there are hardly any but emoji.
std::size_t columns_of(char first, char second) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xE1) return 1;
  if (byte == 0xE1) return static_cast<unsigned char>(second) >= 0x84 ? 2 : 1;
  return byte == 0xE2 ? 1 : 2;
}

// Bytes of the longest beginning that is no wider.
std::size_t bytes_within(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t wide = columns_of(text[at], at + 1 < text.size() ? text[at + 1] : '\0');
    if (used + wide > width) break;
    used += wide;
    for (++at; at < text.size() && continues(text[at]);) ++at;
  }
  return at;
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    width += columns_of(text[at], at + 1 < text.size() ? text[at + 1] : '\0');
  }
  return width;
}

std::string cut_to_columns(std::string_view text, std::size_t width) {
  if (bytes_within(text, width) == text.size()) return std::string(text);
  const std::size_t kept = bytes_within(text, width > 0 ? width - 1 : 0);
  return std::string(text.substr(0, kept)) + "…";
}

void append_wrapped(std::string& out, std::string_view text, std::size_t indent,
                    std::size_t width) {
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t wide = columns(word);
    if (column == 0 || column + 1 + wide > width) {
      if (column != 0) out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += wide;
  }
  out += '\n';
}

}  // namespace trainwatch

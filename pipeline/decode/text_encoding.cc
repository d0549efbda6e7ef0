// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/text_encoding.h"

#include <cstddef>
#include <initializer_list>
#include <utility>

namespace trainwatch {
namespace {

// So many characters are proof enough that damage of UTF-8 does not look like them.
constexpr std::size_t kCharacters = 4;

// Characters of `width` bytes, each of them ASCII and the byte at `place`; of the last one the
// first bytes do.
bool is_ascii(std::string_view text, std::size_t width, std::size_t place) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool character = at % width == place;
    if (character ? byte == 0 || byte >= 0x80 : byte != 0) return false;
  }
  return true;
}
bool begins_with_ascii(std::string_view text, std::size_t width) {
  const std::string_view first = text.substr(0, kCharacters * width);
  return is_ascii(first, width, 0) || is_ascii(first, width, width - 1);
}

std::string_view without_mark(std::string_view text) {
  using namespace std::string_view_literals;
  for (const std::string_view mark : {"\xFF\xFE\0\0"sv, "\xFF\xFE"sv, "\xFE\xFF"sv}) {
    if (text.starts_with(mark)) return text.substr(mark.size());
  }
  return text;
}

}  // namespace

TextEncoding text_encoding(std::string_view head) {
  const std::string_view text = without_mark(head);
  const bool has_nul = text.substr(0, 4).find('\0') != std::string_view::npos;
  if (!has_nul) return TextEncoding::other;
  for (const auto& [encoding, width] : {std::pair(TextEncoding::utf16, std::size_t{2}),
                                        std::pair(TextEncoding::utf32, std::size_t{4})}) {
    if (!begins_with_ascii(text, width)) continue;
    return text.size() < kCharacters * width ? TextEncoding::undecided : encoding;
  }
  return TextEncoding::other;
}

}  // namespace trainwatch

#include "pipeline/decode/text_encoding.h"

#include <cstddef>
#include <initializer_list>

namespace trainwatch {
namespace {

// So many characters are proof enough that damage of UTF-8 does not look like them.
constexpr std::size_t kCharacters = 4;

// Characters of `width` bytes, each of them ASCII and the byte at `place`.
bool begins_with_ascii(std::string_view text, std::size_t width, std::size_t place) {
  if (text.size() < kCharacters * width) return false;
  for (std::size_t at = 0; at < kCharacters * width; ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool character = at % width == place;
    if (character ? byte == 0 || byte >= 0x80 : byte != 0) return false;
  }
  return true;
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
  if (begins_with_ascii(text, 2, 0) || begins_with_ascii(text, 2, 1)) return TextEncoding::utf16;
  if (begins_with_ascii(text, 4, 0) || begins_with_ascii(text, 4, 3)) return TextEncoding::utf32;
  return TextEncoding::other;
}

}  // namespace trainwatch

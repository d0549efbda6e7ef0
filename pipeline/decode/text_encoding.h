// JSON is written in UTF-8. A file in UTF-16 or UTF-32 shows it by its first characters, which are
// ASCII in JSON: every other byte, or three of four, is NUL.
#pragma once

#include <string_view>

namespace trainwatch {

enum class TextEncoding { other, utf16, utf32 };  // `other`: UTF-8, no text, or too few bytes yet

// The encoding of a text that begins with `head`, with or without a byte order mark. Holes aside
// (NULs at the beginning), more bytes only ever change `other`.
TextEncoding text_encoding(std::string_view head);

}  // namespace trainwatch

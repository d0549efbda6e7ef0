// SPDX-License-Identifier: Apache-2.0
// JSON is written in UTF-8. A file in UTF-16 or UTF-32 shows it by its first characters, which are
// ASCII in JSON: every other byte, or three of four, is NUL.
#pragma once

#include <string_view>

namespace trainwatch {

enum class TextEncoding {
  other,  // UTF-8, or no text
  utf16,
  utf32,
  undecided  // one of these two or `other`: more bytes decide
};

// The encoding of a text that begins with `head`, with or without a byte order mark. More bytes
// change only `undecided`, and the `other` of a text in which no NUL was seen yet.
TextEncoding text_encoding(std::string_view head);

}  // namespace trainwatch

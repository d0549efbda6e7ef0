// SPDX-License-Identifier: Apache-2.0
// Text in columns of a terminal: how wide it is, where it is cut, where it breaks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainwatch {

// Wide characters (Chinese, emoji) count two, all others one. Of valid UTF-8.
std::size_t columns(std::string_view text);

// The text, or as much of it as fits in `width` with "…" behind it.
std::string cut_to_columns(std::string_view text, std::size_t width);

// Appends the text, ended by a newline, broken at spaces so that no line is wider than `width`
// (unless one word is). Every line begins with `indent` spaces.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t width);

}  // namespace trainwatch

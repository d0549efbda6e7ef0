// SPDX-License-Identifier: Apache-2.0
// Lines, words and numbers of rule cases.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace trainwatch::cases {

using Words = std::vector<std::string_view>;

inline Words split(std::string_view text, char separator = ' ') {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Removes the first line of `text`, which must not be empty.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The words of a line without its comment.
inline Words words_of(std::string_view line) {
  return line.starts_with('#') ? Words{} : split(line.substr(0, line.find(" #")));
}

// The text from words[first] to the end of the line that they were split from.
inline std::string_view from_word(const Words& words, std::size_t first) {
  return {words[first].data(), words.back().data() + words.back().size()};
}

// The whole text must be the number; "nan" is one.
template <class T>
bool read(std::string_view text, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (text == "nan") {
      out = std::numeric_limits<T>::quiet_NaN();
      return true;
    }
  }
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc{} && end == text.data() + text.size();
}

// "4..9", or "4" for 4..4.
template <class T>
bool read_range(std::string_view text, T& first, T& last) {
  const std::size_t dots = text.find("..");
  if (!read(text.substr(0, dots), first)) return false;
  last = first;
  return dots == std::string_view::npos || read(text.substr(dots + 2), last);
}

}  // namespace trainwatch::cases

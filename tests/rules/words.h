// Words and numbers of the lines of rule cases.
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

// SPDX-License-Identifier: Apache-2.0
// Names with `*` in them.
#pragma once

#include <cstddef>
#include <string_view>

namespace trainwatch {

// Whether `text` is `pattern`, in which each `*` stands for any text.
// Goes back to the last star alone, so that it takes at most the product of both sizes.
inline bool matches_star(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in = 0;  // of the pattern
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;  // where what the star stands for ends
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      from = at;
    } else if (in < pattern.size() && pattern[in] == text[at]) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trainwatch {

// Without the `blanks` at its begin and its end.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r") {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace trainwatch

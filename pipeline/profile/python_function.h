// Which function of a Python program a row of a profile is about.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainwatch {

// Built-in functions have the file "~" and line 0 in cProfile, and no file in pyinstrument.
struct PythonFunction {
  std::string file;
  std::int64_t line = 0;
  std::string name;
  auto operator<=>(const PythonFunction&) const = default;

  // A longer file or function name is taken for damage.
  static constexpr std::size_t kMaxNameBytes = 4096;
};

// Text in UTF-8; bytes that are none become U+FFFD. Python 2 wrote file names as they were.
std::string valid_utf8(std::string_view text);

}  // namespace trainwatch

// Where lines of a console log end: at line feeds, and at the carriage returns with which progress
// bars draw themselves again.
#pragma once

#include <cstddef>
#include <string_view>

namespace trainwatch {

// The place of the first end at or behind `from`, and of the last one; npos: there is none.
std::size_t line_end(std::string_view text, std::size_t from = 0);
std::size_t last_line_end(std::string_view text);

}  // namespace trainwatch

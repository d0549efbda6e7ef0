// SPDX-License-Identifier: Apache-2.0
// Finds the ends of lines in a console log: line feeds, and the carriage returns with which
// progress bars redraw themselves.
#pragma once

#include <cstddef>
#include <string_view>

namespace trainwatch {

// Returns the position of the first line end at or after `from`, or npos.
std::size_t line_end(std::string_view text, std::size_t from = 0);
// Returns the position of the last line end, or npos.
std::size_t last_line_end(std::string_view text);

}  // namespace trainwatch

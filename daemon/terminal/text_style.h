// SPDX-License-Identifier: Apache-2.0
// What a stream is to whoever reads it: a terminal or not, its width, whether colours and lines
// that are rewritten make sense there.
#pragma once

#include <cstddef>

namespace trainwatch {

struct TextStyle {
  bool terminal = false;
  bool rewrites = false;   // a line can be erased and written anew: a terminal that is not "dumb"
  bool colour = false;     // the same, and NO_COLOR is not set
  std::size_t width = 80;  // columns
};

// Of a descriptor, as $TERM and $NO_COLOR (https://no-color.org) have it now.
TextStyle style_of(int descriptor);

// The width now: people change it. `otherwise` where there is no terminal that knows.
std::size_t terminal_width(int descriptor, std::size_t otherwise);

}  // namespace trainwatch

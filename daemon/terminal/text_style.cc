// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace trainwatch {
namespace {

constexpr std::size_t kNarrowest = 20;

std::string_view terminal_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::size_t terminal_width(int descriptor, std::size_t otherwise) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < kNarrowest) return otherwise;
  return size.ws_col;
}

TextStyle style_of(int descriptor) {
  TextStyle style;
  style.terminal = isatty(descriptor) == 1;
  if (!style.terminal) return style;
  const std::string_view kind = terminal_variable("TERM");
  style.rewrites = !kind.empty() && kind != "dumb";
  style.colour = style.rewrites && terminal_variable("NO_COLOR").empty();
  style.width = terminal_width(descriptor, style.width);
  return style;
}

}  // namespace trainwatch

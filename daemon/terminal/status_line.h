// SPDX-License-Identifier: Apache-2.0
// One line at the bottom of a terminal that is written again and again: the state of a run, or the
// progress of reading. It says which bytes to write and writes none itself, so it serves streams
// and the log alike. Whatever else is printed goes through lines(): the line is erased before and
// drawn again behind it, and so is never glued to anything.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "daemon/terminal/text_style.h"

namespace trainwatch {

class StatusLine {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kEvery = std::chrono::milliseconds(250);

  // Without TextStyle::rewrites there is no line: show() gives nothing, lines() what it was given.
  explicit StatusLine(const TextStyle& style) : style_(style) {}

  void set_width(std::size_t columns) { style_.width = columns; }
  bool is_possible() const { return style_.rewrites; }
  bool is_due(Clock::time_point now) const {
    return is_possible() && (!ever_ || now - drawn_at_ >= kEvery);
  }

  // The bytes that print `text`, which ends with a newline; erase() and redraw() go around them
  // where the text goes to another stream of the same terminal.
  std::string lines(std::string_view text);
  std::string erase() const;
  std::string redraw();
  // The bytes that show `text` instead of what the line says; none where it says so already, or was
  // drawn less than kEvery ago: then `text` comes with the next lines() or show().
  std::string show(std::string_view text, Clock::time_point now);
  // The bytes that erase the line.
  std::string clear();

 private:
  std::string draw();

  TextStyle style_;
  std::string text_;
  std::string drawn_;  // what the terminal shows; empty: nothing
  Clock::time_point drawn_at_{};
  bool ever_ = false;
};

}  // namespace trainwatch

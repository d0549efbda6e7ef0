// SPDX-License-Identifier: Apache-2.0
// A terminal that is a string: it takes what a program writes, with the few control sequences that
// trainwatch uses, and shows the lines that a person would see. A sequence that it does not know is
// a failure.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "daemon/terminal/columns.h"
#include "daemon/terminal/text_style.h"

namespace trainwatch {

class FakeTerminal {
 public:
  explicit FakeTerminal(std::size_t width = 80) : width_(width) {}

  TextStyle style() const { return {true, true, true, width_}; }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      if (bytes.starts_with("\x1b[K")) {
        lines_.back().resize(column_);
        bytes.remove_prefix(3);
      } else if (bytes.starts_with("\x1b[")) {
        const std::size_t end = bytes.find('m');
        ASSERT_NE(end, std::string_view::npos) << "an unknown sequence";
        bytes.remove_prefix(end + 1);  // a colour
      } else {
        put(bytes.front());
        bytes.remove_prefix(1);
      }
    }
  }

  // All that was ever on it; the last one is the line of the cursor.
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void put(char byte) {
    if (byte == '\r') {
      column_ = 0;
    } else if (byte == '\n') {
      lines_.emplace_back();
      column_ = 0;
    } else {
      std::string& line = lines_.back();
      EXPECT_EQ(column_, line.size()) << "written over: " << line;
      line += byte;
      ++column_;
      EXPECT_LE(columns(line), width_) << "the terminal would wrap: " << line;
    }
  }

  std::size_t width_;
  std::size_t column_ = 0;  // in bytes
  std::vector<std::string> lines_{""};
};

}  // namespace trainwatch

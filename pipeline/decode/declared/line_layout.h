// SPDX-License-Identifier: Apache-2.0
// Where the parts of a record are in a line of text.
//
// The lines of a log differ in little but their digits. Where neither the pattern of a format nor
// its keys depend on which digit stands somewhere, two lines that differ in digits only have their
// parts at the same places; so a line whose shape is known needs no regular expression and no
// search for keys. On a line of Megatron-LM both were two thirds of the time (scripts/bench.sh
// console).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

struct LineLayout {
  struct Part {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;  // 0: the line has none

    std::string_view of(std::string_view line) const { return line.substr(begin, size); }
  };

  Part step;
  Part time;
  Part epoch;
  Part epoch_steps;
  std::vector<Part> values;  // of each field of the declaration
  std::size_t format = 0;    // which of the formats of lines
};

// The layouts of the shapes that came last.
class LineLayouts {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kLongest = 1024;  // bytes of a line; longer ones are not kept

  // Null: not known. Valid until add() or clear().
  const LineLayout* find(std::string_view line);
  // The layout of the line that find() was asked for last, and did not know.
  void add(const LineLayout& layout);
  void clear();

 private:
  struct Known {
    std::string shape;
    LineLayout layout;
  };

  void set_shape(std::string_view line);

  std::vector<Known> known_;
  std::size_t latest_ = 0;  // the one that was found last
  std::size_t next_ = 0;    // the one that the next new one replaces
  std::string shape_;       // of the line asked for; empty: it is too long
};

}  // namespace trainwatch

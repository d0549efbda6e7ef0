// SPDX-License-Identifier: Apache-2.0
// Records that take several lines of text, as one line each:
//
//   * a dictionary of Python that was printed with a line for each member;
//   * a table of names and values between two rules, as Stable-Baselines3 prints: "train/loss: 0.5,
//     time/fps: 700";
//   * a row of a table whose first line has the names: "epoch  train_loss  valid_loss", with bars
//   or
//     without;
//   * a line that the kubelet has cut into parts: "TIME stdout P one part", the last with F.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

class JoinedLines {
 public:
  static constexpr std::size_t kMostColumns = 32;
  static constexpr std::size_t kLongest = 8192;  // bytes of the line; longer ones are no records
  // What lines have that may be the first.
  static constexpr std::string_view kLiterals[] = {"{'", "----------", " stdout P ", " stderr P "};

  enum class Part : std::uint8_t {
    none,   // the line stands for itself
    more,   // it is a part, and the record goes on
    whole,  // it is the last part: see text()
  };

  // The next line must be taken, whether it has a literal or not.
  bool is_open() const { return kind_ != Kind::none; }
  Part take(std::string_view line);
  // The record, after Part::whole. Valid until the next call.
  std::string_view text() const { return text_; }

  void state(StateIo& io);

 private:
  enum class Kind : std::uint8_t { none, rule, table, columns, dictionary, cut_line, count_ };

  Part open(std::string_view line);
  Part take_row(std::string_view line);
  Part take_cells(std::string_view line);
  Part take_member(std::string_view line);
  Part take_rest(std::string_view line);
  Part add(std::string_view part);
  Part close(Part part);

  Kind kind_ = Kind::none;
  std::string text_;
  std::string heading_;  // of the rows of a table: "train/"
  std::vector<std::string> columns_;
  std::uint32_t strange_ = 0;  // lines since the last row of columns
};

}  // namespace trainwatch

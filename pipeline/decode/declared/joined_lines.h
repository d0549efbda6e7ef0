// SPDX-License-Identifier: Apache-2.0
// Records that take several lines of text, as one line each:
//
//   * a dictionary of Python that was printed with a line for each member;
//   * a table of names and values between two rules, as Stable-Baselines3 prints: "train/loss: 0.5,
//     time/fps: 700";
//   * a row below a header line ("epoch  train_loss  valid_loss"), with or without vertical bars;
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
  // Each line that can begin a record contains one of these, or names a loss.
  static constexpr std::string_view kLiterals[] = {"{'", "----------", " stdout P ", " stderr P "};

  enum class Part : std::uint8_t {
    none,   // the line is not part of a longer record
    more,   // the line is part of a record that continues on the next line
    whole,  // the line completes a record: see text()
  };

  // take() must be called for the next line even if it contains no literal.
  bool is_open() const { return kind_ != Kind::none; }
  Part take(std::string_view line);
  // The record, after Part::whole. Valid until the next call.
  std::string_view text() const { return text_; }

  void state(StateIo& io);

 private:
  enum class Kind : std::uint8_t { none, rule, table, columns, dictionary, cut_line, count_ };

  Part open(std::string_view line);
  bool opens_columns(std::string_view line);
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

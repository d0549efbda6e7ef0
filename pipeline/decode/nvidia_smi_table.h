// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi prints again and again: the tables of `--query-gpu=... --format=csv` and of
// `nvidia-smi dmon`. A header says what each column is; where `noheader` left it out, the units of
// the first row do, as far as they can.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/format.h"

namespace trainwatch {

// What a row says of one GPU.
struct SmiRow {
  struct Figure {
    std::string_view dimension;  // of a series (event_kind.h)
    double value = 0;
  };
  std::string gpu;    // its index; else its address or UUID; "0" where no column names it
  std::string date;   // "2026-09-21", empty: the row has none
  std::string clock;  // "14:13:20.000", empty: the row has none
  std::vector<Figure> figures;
};

class SmiTable {
 public:
  enum class Header : std::uint8_t {
    none,   // the line does not say what the columns are
    names,  // it names them
    row,    // none was known yet, and the units of this row show them: it is to be read as well
  };
  Header take_header(std::string_view line);
  bool known() const { return !columns_.empty(); }
  // The units below the names of dmon.
  static bool is_comment(std::string_view line);
  // The latest line that take_header() took.
  const std::string& header() const { return header_; }
  // False: it does not have the columns of the table. Cells without a value ("[N/A]", "-") are no
  // figures.
  bool read(std::string_view line, SmiRow& row);

 private:
  enum class Use : std::uint8_t {
    none,
    index,
    address,
    uuid,
    date_and_time,
    date,
    time,
    memory_used,
    memory_total,
    figure,
  };
  struct Column {
    Use use = Use::none;
    std::string_view dimension{};  // of a figure; a constant
  };

  static Column column_of(std::string_view name, bool monitor);
  static std::vector<Column> columns_by_units(const std::vector<std::string_view>& cells);
  void take_cell(const Column& column, std::string_view cell, SmiRow& row);

  std::string header_;
  bool monitor_ = false;  // of dmon
  std::vector<Column> columns_;
  std::vector<std::string_view> cells_;  // reused
  std::optional<double> used_;           // of the row that is read
  std::optional<double> total_;
};

// By the first line that has anything. More bytes never change a yes or a no.
Detection detect_nvidia_smi(std::string_view head);

}  // namespace trainwatch

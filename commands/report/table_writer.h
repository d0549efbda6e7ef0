// SPDX-License-Identifier: Apache-2.0
// A table of the report. Figures stand twice: rounded for the reader, and as they are in <data>.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "commands/report/html_writer.h"

namespace trainwatch {

class TableWriter {
 public:
  struct Column {
    std::string_view title;
    bool number = false;
  };

  // `id` is the table's own in the page; without a caption where that is empty.
  TableWriter(HtmlWriter& html, std::string_view id, std::string_view caption,
              std::initializer_list<Column> columns)
      : TableWriter(html, id, caption, std::span(columns.begin(), columns.size())) {}
  TableWriter(HtmlWriter& html, std::string_view id, std::string_view caption,
              std::span<const Column> columns);
  void begin_row() { html_.open("tr"); }
  void end_row() { html_.close(); }
  // A name from a file: what is too long is cut, and stands in full as the cell's title.
  void name(std::string_view text);
  void number(double value, std::string_view shown);
  // A dash where there is no value.
  void number(const std::optional<double>& value, std::string (*show)(double));
  void end();

 private:
  HtmlWriter& html_;
};

// <data value="...">, on its own.
void write_figure(HtmlWriter& html, double value, std::string_view shown);
// A name from a file, in a <span> of its own; `limit` in characters.
void write_name(HtmlWriter& html, std::string_view text, std::size_t limit);

}  // namespace trainwatch

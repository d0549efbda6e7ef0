// A result in the shape of a table: {"columns": [...], "rows": [[...], ...]}. Further tables may
// stand in the same object.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "trainwatch/json_writer.h"

namespace trainwatch {

class JsonTable {
 public:
  JsonTable(JsonWriter& json, std::initializer_list<std::string_view> columns) : json_(json) {
    json_.begin_object().key("columns").begin_array();
    for (const std::string_view column : columns) json_.value(column);
    json_.end_array().key("rows").begin_array();
  }
  template <class... Cells>
  void row(const Cells&... cells) {
    json_.begin_array();
    (put(cells), ...);
    json_.end_array();
  }
  void end() { json_.end_array().end_object(); }
  // More members follow, and the end of the object.
  void end_rows() { json_.end_array(); }

 private:
  template <class Cell>
  void put(const Cell& cell) {
    json_.value(cell);
  }
  template <class Cell>
  void put(const std::vector<Cell>& cells) {
    json_.begin_array();
    for (const Cell& cell : cells) put(cell);
    json_.end_array();
  }
  template <class Cell>
  void put(const std::optional<Cell>& cell) {
    cell ? json_.value(*cell) : json_.null();
  }

  JsonWriter& json_;
};

}  // namespace trainwatch

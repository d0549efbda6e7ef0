// SPDX-License-Identifier: Apache-2.0
// The JSON of a map over time: what /api/v1/heatmap answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/analysis/history/chart_columns.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/time.h"

namespace trainwatch {

// The rows of a heat map have a value for every column, also for those without content.
template <class Column>
class MapColumns {
 public:
  explicit MapColumns(ColumnChart<Column> chart) : chart_(std::move(chart)) {
    if (chart_.columns.empty()) return;
    const auto columns = (chart_.columns.back().first - start()) / chart_.width + 1;
    by_place_.resize(static_cast<std::size_t>(columns));
    for (const auto& [begin, column] : chart_.columns) {
      by_place_[static_cast<std::size_t>((begin - start()) / chart_.width)] = &column;
    }
  }

  void write_head(JsonWriter& json, const std::string& job, std::string_view what) const {
    json.field("job", job).field("what", what);
    json.key("start_us");
    chart_.columns.empty() ? json.null() : json.value(to_us(start()));
    json.field("width_us", to_us(chart_.width)).field("columns", by_place_.size());
  }
  // `value_of(column)`: nullopt is null.
  template <class ValueOf>
  void write_row(JsonWriter& json, std::string_view name, ValueOf&& value_of) const {
    json.key(name).begin_array();
    for (const Column* column : by_place_) {
      using Value = decltype(value_of(*column));  // optional
      const Value value = column != nullptr ? value_of(*column) : Value();
      value ? json.value(*value) : json.null();
    }
    json.end_array();
  }

 private:
  Time start() const { return chart_.columns.front().first; }

  ColumnChart<Column> chart_;
  std::vector<const Column*> by_place_;
};

}  // namespace trainwatch

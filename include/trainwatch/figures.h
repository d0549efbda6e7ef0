// SPDX-License-Identifier: Apache-2.0
// The result of an analysis as one value: named figures and lists, groups of these, and tables.
// Everything that shows a result reads this value: JSON (`analyze`, the API) prints it unchanged,
// the report takes fields and columns from it by name and kind.
#pragma once

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "trainwatch/json_writer.h"

namespace trainwatch {

// One figure; monostate: not known, as are a NaN and an infinity.
using Figure = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

// A number in the widest type of its kind, which prints alike.
template <class T>
requires std::is_arithmetic_v<T>
constexpr auto widened(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class T>
void assign(Figure& to, const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    to.emplace<decltype(widened(value))>(widened(value));
  } else {
    to.emplace<std::string>(value);
  }
}
template <class T>
void assign(Figure& to, const std::optional<T>& value) {
  if (value) assign(to, *value);
}

// Named columns and rows of cells. A repeated text is stored once.
class FigureTable {
 public:
  using Columns = std::initializer_list<std::string_view>;

  FigureTable(Columns columns) : columns_(columns.begin(), columns.end()) {}

  // One cell for each column: a number, a text, a truth, a list of texts, or an optional of these.
  template <class... Cells>
  void row(const Cells&... cells) {
    assert(sizeof...(cells) == columns_.size());
    (put(cells), ...);
  }

  std::size_t rows() const { return columns_.empty() ? 0 : cells_.size() / columns_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<std::size_t> column(std::string_view name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == name) return i;
    }
    return std::nullopt;
  }
  // A list is not known as a figure.
  Figure at(std::size_t row, std::size_t column) const {
    Figure found;
    std::visit([&](const auto& cell) { copy(cell, found); }, cell(row, column));
    return found;
  }

  // The members "columns" and "rows" of an object.
  void write(JsonWriter& json) const {
    json.key("columns").begin_array();
    for (const std::string& name : columns_) json.value(name);
    json.end_array().key("rows").begin_array();
    for (std::size_t i = 0; i < rows(); ++i) {
      json.begin_array();
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        std::visit([&](const auto& cell) { write(json, cell); }, cell(i, j));
      }
      json.end_array();
    }
    json.end_array();
  }

 private:
  struct Text {
    std::uint32_t index = 0;  // into texts_
  };
  struct TextList {
    std::uint32_t index = 0;  // into lists_
  };
  using Cell =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Text, TextList>;

  const Cell& cell(std::size_t row, std::size_t column) const {
    return cells_[row * columns_.size() + column];
  }

  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      cells_.emplace_back(widened(value));
    } else {
      put_text(std::string_view(value));
    }
  }
  template <class T>
  void put(const std::optional<T>& value) {
    value ? put(*value) : static_cast<void>(cells_.emplace_back());
  }
  void put(const std::vector<std::string>& texts) {
    cells_.emplace_back(TextList{static_cast<std::uint32_t>(lists_.size())});
    lists_.push_back(texts);
  }
  // Most text columns repeat the cell above.
  void put_text(std::string_view text) {
    if (cells_.size() >= columns_.size()) {
      const auto* above = std::get_if<Text>(&cells_[cells_.size() - columns_.size()]);
      if (above != nullptr && texts_[above->index] == text) {
        const Text same = *above;
        cells_.emplace_back(same);
        return;
      }
    }
    cells_.emplace_back(Text{static_cast<std::uint32_t>(texts_.size())});
    texts_.emplace_back(text);
  }

  template <class T>
  static void copy(const T& value, Figure& to) {
    to.emplace<T>(value);
  }
  void copy(Text text, Figure& to) const { to.emplace<std::string>(texts_[text.index]); }
  static void copy(TextList, Figure&) {}

  template <class T>
  static void write(JsonWriter& json, const T& value) {
    json.value(value);
  }
  static void write(JsonWriter& json, std::monostate) { json.null(); }
  void write(JsonWriter& json, Text text) const { json.value(texts_[text.index]); }
  void write(JsonWriter& json, TextList list) const {
    json.begin_array();
    for (const std::string& text : lists_[list.index]) json.value(text);
    json.end_array();
  }

  std::vector<std::string> columns_;
  std::vector<Cell> cells_;  // row by row
  std::vector<std::string> texts_;
  std::vector<std::vector<std::string>> lists_;
};

// A group of figures: at most one table, and fields in the order in which they were added. As JSON
// an object, the table's members first.
class Figures {
 public:
  using Numbers = std::vector<double>;
  using Counts = std::vector<std::uint64_t>;
  using Groups = std::vector<Figures>;
  using Value = std::variant<Figure, Numbers, Counts, Groups, std::unique_ptr<Figures>>;
  using Field = std::pair<std::string, Value>;

  // Makes this group a table; call once.
  FigureTable& table(FigureTable::Columns columns) { return table_.emplace(columns); }
  // A field that is a table.
  FigureTable& table(std::string_view name, FigureTable::Columns columns) {
    return group(name).table(columns);
  }
  // A field that is a group.
  Figures& group(std::string_view name) {
    return *(put<std::unique_ptr<Figures>>(name) = std::make_unique<Figures>());
  }
  template <class T>
  Figures& add(std::string_view name, const T& value) {
    assign(put<Figure>(name), value);
    return *this;
  }
  Figures& add(std::string_view name, Numbers values) {
    put<Numbers>(name) = std::move(values);
    return *this;
  }
  Figures& add(std::string_view name, Counts values) {
    put<Counts>(name) = std::move(values);
    return *this;
  }
  Figures& add(std::string_view name, Groups groups) {
    put<Groups>(name) = std::move(groups);
    return *this;
  }
  Figures& add(std::string_view name, Figures&& group) {
    this->group(name) = std::move(group);
    return *this;
  }

  const std::optional<FigureTable>& table() const { return table_; }
  const std::vector<Field>& fields() const { return fields_; }
  // Null if there is no such field.
  const Value* find(std::string_view name) const {
    for (const auto& [known, value] : fields_) {
      if (known == name) return &value;
    }
    return nullptr;
  }

  std::string json() const {
    JsonWriter json;
    write(json);
    return json.take();
  }
  void write(JsonWriter& json) const {
    json.begin_object();
    if (table_) table_->write(json);
    for (const auto& [name, value] : fields_) {
      json.key(name);
      std::visit([&](const auto& of) { write(json, of); }, value);
    }
    json.end_object();
  }

 private:
  // In place: GCC 12 takes a moved variant for uninitialised.
  template <class Kind>
  Kind& put(std::string_view name) {
    Field& field = fields_.emplace_back();
    field.first = name;
    return field.second.emplace<Kind>();
  }

  static void write(JsonWriter& json, const Figure& figure) {
    std::visit([&](const auto& of) { write(json, of); }, figure);
  }
  static void write(JsonWriter& json, std::monostate) { json.null(); }
  template <class T>
  static void write(JsonWriter& json, const T& value) {
    json.value(value);
  }
  template <class T>
  static void write(JsonWriter& json, const std::vector<T>& values) {
    json.begin_array();
    for (const T& value : values) write(json, value);
    json.end_array();
  }
  static void write(JsonWriter& json, const Figures& group) { group.write(json); }
  static void write(JsonWriter& json, const std::unique_ptr<Figures>& group) { group->write(json); }

  std::optional<FigureTable> table_;
  std::vector<Field> fields_;
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Takes fields and columns out of a result by name and kind. The first one that is missing, or of
// another kind, becomes the error of the whole reading: a renamed column is never a 0.
#pragma once

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "commands/report/html_writer.h"
#include "trainwatch/figures.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Where the cells of a column go in a row of the reader's own.
template <class Row>
struct ColumnOf {
  std::string_view name;
  std::variant<std::optional<double> Row::*, std::string Row::*> to;
};

class FigureReader {
 public:
  template <class Row>
  using Columns = std::initializer_list<ColumnOf<Row>>;

  // `path` names the group in errors. Everything must outlive the reader.
  FigureReader(const Figures& figures, std::string path, std::optional<Error>& error)
      : figures_(&figures), path_(std::move(path)), error_(&error) {}

  // nullopt: there is such a field, and its value is not known.
  std::optional<double> number(std::string_view name) const { return number(figure(name), name); }
  std::optional<bool> truth(std::string_view name) const {
    const Figure& value = figure(name);
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    if (const bool* truth = std::get_if<bool>(&value)) return *truth;
    fail(name, "is no truth");
    return std::nullopt;
  }
  // A number that is always known.
  double value(std::string_view name) const {
    const auto number = this->number(name);
    if (!number) fail(name, "is not known");
    return number.value_or(0);
  }
  // Names of files may be any bytes.
  std::string text(std::string_view name) const { return text(figure(name), name); }

  FigureReader group(std::string_view name) const {
    const Figures::Value* value = find(name);
    const auto* group = value ? std::get_if<std::unique_ptr<Figures>>(value) : nullptr;
    if (group != nullptr) return at(**group, name);
    if (value != nullptr) fail(name, "is no group");
    static const Figures kNone;
    return at(kNone, name);
  }
  // Calls `use(name, reader)` for every field, all of which are groups.
  template <class Use>
  void each_group(const Use& use) const {
    for (const auto& [name, value] : figures_->fields()) use(repaired_utf8(name), group(name));
  }
  // Calls `use(reader)` for each group of a list.
  template <class Use>
  void each_item(std::string_view name, const Use& use) const {
    const Figures::Value* value = find(name);
    if (value == nullptr) return;
    const auto* groups = std::get_if<Figures::Groups>(value);
    if (groups == nullptr) return fail(name, "is no list of groups");
    for (const Figures& item : *groups) use(at(item, name));
  }

  // Calls `use(row)` for each row of this group's table.
  template <class Row, class Use>
  void each_row(Columns<Row> columns, const Use& use) const {
    if (!figures_->table()) return fail({}, "is no table");
    const FigureTable& table = *figures_->table();
    std::vector<std::size_t> places;
    for (const ColumnOf<Row>& column : columns) {
      const auto place = table.column(column.name);
      if (!place) return fail(column.name, "is no column");
      places.push_back(*place);
    }
    for (std::size_t i = 0; i < table.rows(); ++i) {
      Row row;
      auto place = places.begin();
      for (const ColumnOf<Row>& column : columns) {
        const Figure cell = table.at(i, *place++);
        if (const auto* number_to = std::get_if<std::optional<double> Row::*>(&column.to)) {
          row.*(*number_to) = number(cell, column.name);
        } else {
          row.*std::get<std::string Row::*>(column.to) = text(cell, column.name);
        }
      }
      use(std::move(row));
    }
  }
  template <class Row>
  std::vector<Row> rows(Columns<Row> columns) const {
    std::vector<Row> rows;
    each_row<Row>(columns, [&](Row row) { rows.push_back(std::move(row)); });
    return rows;
  }

 private:
  FigureReader at(const Figures& figures, std::string_view name) const {
    return {figures, path_ + "." + std::string(name), *error_};
  }
  void fail(std::string_view name, std::string_view what) const {
    if (*error_) return;
    std::string message = path_;
    if (!name.empty()) message.append(".").append(name);
    *error_ = Error{message.append(" ").append(what)};
  }
  const Figures::Value* find(std::string_view name) const {
    const Figures::Value* value = figures_->find(name);
    if (value == nullptr) fail(name, "is missing");
    return value;
  }
  const Figure& figure(std::string_view name) const {
    static const Figure kNone;
    const Figures::Value* value = find(name);
    if (value == nullptr) return kNone;
    if (const auto* figure = std::get_if<Figure>(value)) return *figure;
    fail(name, "is no figure");
    return kNone;
  }
  std::optional<double> number(const Figure& figure, std::string_view name) const {
    double number = 0;
    if (const auto* whole = std::get_if<std::int64_t>(&figure)) {
      number = static_cast<double>(*whole);
    } else if (const auto* count = std::get_if<std::uint64_t>(&figure)) {
      number = static_cast<double>(*count);
    } else if (const auto* real = std::get_if<double>(&figure)) {
      number = *real;
    } else {
      if (!std::holds_alternative<std::monostate>(figure)) fail(name, "is no number");
      return std::nullopt;
    }
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  std::string text(const Figure& figure, std::string_view name) const {
    if (const auto* text = std::get_if<std::string>(&figure)) return repaired_utf8(*text);
    if (!std::holds_alternative<std::monostate>(figure)) fail(name, "is no text");
    return {};
  }

  const Figures* figures_;
  std::string path_;
  std::optional<Error>* error_;
};

}  // namespace trainwatch

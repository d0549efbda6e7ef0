// A table as an analysis gives it: named columns, and rows of numbers and texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainwatch {

struct FigureTable {
  using Cell = std::variant<std::monostate, double, std::string>;  // monostate: not known

  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;

  // Nothing where there is no such column, or no number in it.
  std::optional<double> number(std::size_t row, std::string_view column) const;
  // "" where there is no such column, or no text in it.
  std::string_view text(std::size_t row, std::string_view column) const;

 private:
  const Cell* find(std::size_t row, std::string_view column) const;
};

}  // namespace trainwatch

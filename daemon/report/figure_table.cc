#include "daemon/report/figure_table.h"

namespace trainwatch {

const FigureTable::Cell* FigureTable::find(std::size_t row, std::string_view column) const {
  if (row >= rows.size()) return nullptr;
  for (std::size_t i = 0; i < columns.size() && i < rows[row].size(); ++i) {
    if (columns[i] == column) return &rows[row][i];
  }
  return nullptr;
}

std::optional<double> FigureTable::number(std::size_t row, std::string_view column) const {
  const Cell* cell = find(row, column);
  if (cell == nullptr || !std::holds_alternative<double>(*cell)) return std::nullopt;
  return std::get<double>(*cell);
}

std::string_view FigureTable::text(std::size_t row, std::string_view column) const {
  const Cell* cell = find(row, column);
  if (cell == nullptr || !std::holds_alternative<std::string>(*cell)) return {};
  return std::get<std::string>(*cell);
}

}  // namespace trainwatch

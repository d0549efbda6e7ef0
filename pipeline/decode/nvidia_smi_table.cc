// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/nvidia_smi_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/gpu_name.h"
#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostSmiColumns = 256;
constexpr std::size_t kLongestSmiHeader = 8192;
constexpr std::string_view kSmiTime = "0000/00/00 00:00:00.000";
constexpr std::string_view kSmiUuid = "GPU-";

// Cells between commas, or words where there are none (dmon). Of more than kMostSmiColumns none.
void split_cells(std::string_view line, bool words, std::vector<std::string_view>& cells) {
  cells.clear();
  const std::string_view ends = words ? " \t\r," : ",";
  for (std::size_t from = 0; from <= line.size() && cells.size() <= kMostSmiColumns;) {
    const std::size_t end = std::min(line.find_first_of(ends, from), line.size());
    const std::string_view cell = trimmed(line.substr(from, end - from));
    if (!words || !cell.empty()) cells.push_back(cell);
    from = end + 1;
  }
  if (cells.size() > kMostSmiColumns) cells.clear();
}

// "97 %", "97", "0x0000000000000004". nullopt: "[N/A]", "[Not Supported]", "-".
std::optional<double> smi_number(std::string_view cell) {
  cell = cell.substr(0, cell.find(' '));
  if (!cell.starts_with("0x")) return parse_number(cell);
  std::uint64_t bits = 0;
  const char* const end = cell.data() + cell.size();
  const auto [stop, failure] = std::from_chars(cell.data() + 2, end, bits, 16);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return static_cast<double>(bits);
}

// Has the form; each digit of it may be any.
bool has_form(std::string_view text, std::string_view form) {
  return text.size() == form.size() && std::ranges::equal(text, form, [](char c, char wanted) {
           return wanted == '0' ? is_digit(c) : c == wanted;
         });
}

// The families of what `nvidia-smi --help-query-gpu` lists.
constexpr std::array<std::string_view, 14> kSmiFamilies = {
    "utilization.", "memory.", "temperature.", "power.",    "clocks", "pcie.",    "ecc.",
    "pci.",         "gpu_",    "fan.",         "enforced.", "mig.",   "encoder.", "retired_pages."};
constexpr std::array<std::string_view, 12> kSmiNames = {
    "timestamp",        "name",         "index",          "uuid",         "count",
    "serial",           "pstate",       "driver_version", "compute_mode", "display_active",
    "persistence_mode", "vbios_version"};

// The name of a column: "utilization.gpu [%]" without its unit.
std::string_view without_unit(std::string_view cell) {
  return cell.substr(0, cell.find(' '));
}

bool is_smi_name(std::string_view name) {
  return std::ranges::find(kSmiNames, name) != kSmiNames.end() ||
         std::ranges::any_of(kSmiFamilies,
                             [name](std::string_view family) { return name.starts_with(family); });
}

bool may_become_smi_name(std::string_view begun) {
  const auto begins = [begun](std::string_view known) { return known.starts_with(begun); };
  return is_smi_name(begun) || std::ranges::any_of(kSmiNames, begins) ||
         std::ranges::any_of(kSmiFamilies, begins);
}

struct SmiFigure {
  std::string_view column;
  std::string_view dimension;
};
constexpr SmiFigure kSmiFigures[] = {
    {"utilization.gpu", "GPUUtilization"},
    {"temperature.gpu", "GPUTemperature"},
    {"power.draw", "GPUPower"},
    {"power.draw.instant", "GPUPower"},
    {"power.draw.average", "GPUPower"},
    {"clocks.sm", "GPUSmClock"},
    {"clocks.current.sm", "GPUSmClock"},
    {"clocks.mem", "GPUMemoryClock"},
    {"clocks.current.memory", "GPUMemoryClock"},
    {"clocks_throttle_reasons.active", "GPUThrottleReasons"},
    {"clocks_event_reasons.active", "GPUThrottleReasons"},
    {"ecc.errors.uncorrected.volatile.total", "GPUEccErrors"},
};
constexpr SmiFigure kMonitorFigures[] = {
    {"sm", "GPUUtilization"},  {"gtemp", "GPUTemperature"}, {"temp", "GPUTemperature"},
    {"pwr", "GPUPower"},       {"pclk", "GPUSmClock"},      {"mclk", "GPUMemoryClock"},
    {"dbecc", "GPUEccErrors"},
};

// "# gpu   pwr  gtemp" and "#Date       Time        gpu   pwr": the words behind the sign.
bool is_monitor_header(const std::vector<std::string_view>& words) {
  const auto gpu = std::ranges::find(words, "gpu");
  const bool leads = std::all_of(
      words.begin(), gpu, [](std::string_view word) { return word == "Date" || word == "Time"; });
  return gpu != words.end() && leads && gpu + 1 != words.end();
}

// "97 %" has " %".
bool has_unit(std::string_view cell, std::string_view unit) {
  return cell.ends_with(unit) && parse_number(cell.substr(0, cell.size() - unit.size()));
}

// What a row can be without its header: it begins with its time or its GPU.
bool begins_row(std::string_view cell) {
  return has_form(cell, kSmiTime) || (cell.size() <= 3 && parse_digits(cell)) ||
         cell.starts_with(kSmiUuid) || pci_address(cell);
}

bool may_begin_row(std::string_view begun) {
  constexpr std::string_view kAddress = "0123456789abcdefABCDEF:.";
  return has_form(begun, kSmiTime.substr(0, begun.size())) || kSmiUuid.starts_with(begun) ||
         begun.starts_with(kSmiUuid) ||
         (begun.size() <= 16 && begun.find_first_not_of(kAddress) == std::string_view::npos);
}

}  // namespace

SmiTable::Column SmiTable::column_of(std::string_view name, bool monitor) {
  constexpr std::pair<std::string_view, Use> kUses[] = {
      {"index", Use::index},
      {"uuid", Use::uuid},
      {"gpu_uuid", Use::uuid},
      {"pci.bus_id", Use::address},
      {"gpu_bus_id", Use::address},
      {"timestamp", Use::date_and_time},
      {"memory.used", Use::memory_used},
      {"memory.total", Use::memory_total},
  };
  if (monitor && name == "gpu") return {Use::index};
  if (monitor && name == "Date") return {Use::date};
  if (monitor && name == "Time") return {Use::time};
  if (monitor) {
    for (const SmiFigure& each : kMonitorFigures) {
      if (each.column == name) return {Use::figure, each.dimension};
    }
    return {};
  }
  for (const auto& [column, use] : kUses) {
    if (column == name) return {use};
  }
  for (const SmiFigure& each : kSmiFigures) {
    if (each.column == name) return {Use::figure, each.dimension};
  }
  return {};
}

// The first percentage is asked for as the utilisation of the GPU, the first size as the used
// memory; what has no unit and stands before them is the index.
std::vector<SmiTable::Column> SmiTable::columns_by_units(
    const std::vector<std::string_view>& cells) {
  std::vector<Column> columns(cells.size());
  std::size_t sizes = 0;
  bool index = false;
  bool percent = false;
  bool power = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = cells[i];
    const bool before = !percent && !power && sizes == 0;
    if (has_form(cell, kSmiTime)) {
      columns[i] = {Use::date_and_time};
    } else if (cell.starts_with(kSmiUuid)) {
      columns[i] = {Use::uuid};
    } else if (pci_address(cell)) {
      columns[i] = {Use::address};
    } else if (before && !index && cell.size() <= 3 && parse_digits(cell)) {
      columns[i] = {Use::index};
      index = true;
    } else if (has_unit(cell, " %") && !std::exchange(percent, true)) {
      columns[i] = {Use::figure, "GPUUtilization"};
    } else if (has_unit(cell, " W") && !std::exchange(power, true)) {
      columns[i] = {Use::figure, "GPUPower"};
    } else if (has_unit(cell, " MiB")) {
      columns[i] = {sizes == 0 ? Use::memory_used : Use::none};
      ++sizes;
    }
  }
  return columns;
}

SmiTable::Header SmiTable::take_header(std::string_view line) {
  if (line.size() > kLongestSmiHeader) return Header::none;
  const std::string_view text = trimmed(line);
  const bool monitor = text.starts_with('#');
  split_cells(monitor ? text.substr(1) : text, monitor, cells_);
  if (cells_.empty()) return Header::none;
  std::vector<Column> columns;
  const bool names =
      monitor ? is_monitor_header(cells_) : is_smi_name(without_unit(cells_.front()));
  if (names) {
    for (const std::string_view cell : cells_) {
      columns.push_back(column_of(without_unit(cell), monitor));
    }
  } else if (!known() && cells_.size() > 1 && begins_row(cells_.front())) {
    columns = columns_by_units(cells_);
  }
  const bool measures = std::ranges::any_of(
      columns, [](Use use) { return use == Use::figure || use == Use::memory_used; }, &Column::use);
  if (!measures) return Header::none;
  columns_ = std::move(columns);
  monitor_ = monitor;
  header_ = line;
  return names ? Header::names : Header::row;
}

bool SmiTable::is_comment(std::string_view line) {
  return trimmed(line).starts_with('#');
}

bool SmiTable::read(std::string_view line, SmiRow& row) {
  split_cells(line, monitor_, cells_);
  if (!known() || cells_.size() != columns_.size()) return false;
  row.gpu.clear();
  row.date.clear();
  row.clock.clear();
  row.figures.clear();
  used_.reset();
  total_.reset();
  for (std::size_t i = 0; i < cells_.size(); ++i) take_cell(columns_[i], cells_[i], row);
  if (row.gpu.empty()) row.gpu = "0";
  if (used_ && total_ && *total_ > 0) {
    row.figures.push_back({"GPUMemoryUtilization", 100 * *used_ / *total_});
  }
  return true;
}

void SmiTable::take_cell(const Column& column, std::string_view cell, SmiRow& row) {
  const bool numbered = !row.gpu.empty() && is_digit(row.gpu.front()) && !pci_address(row.gpu);
  switch (column.use) {
    case Use::index:
      if (parse_digits(cell)) row.gpu = cell;
      break;
    case Use::address:
      if (auto address = pci_address(cell); address && !numbered) row.gpu = std::move(*address);
      break;
    case Use::uuid:
      if (row.gpu.empty() && cell.starts_with(kSmiUuid)) row.gpu = cell;
      break;
    case Use::date_and_time:
      if (!has_form(cell, kSmiTime)) break;
      row.date = cell.substr(0, 10);
      std::ranges::replace(row.date, '/', '-');
      row.clock = cell.substr(11);
      break;
    case Use::date:
      if (!has_form(cell, "00000000")) break;
      row.date.append(cell.substr(0, 4)).append("-").append(cell.substr(4, 2));
      row.date.append("-").append(cell.substr(6));
      break;
    case Use::time:
      if (has_form(cell, "00:00:00")) row.clock = cell;
      break;
    case Use::memory_used:
      used_ = smi_number(cell);
      break;
    case Use::memory_total:
      total_ = smi_number(cell);
      break;
    case Use::figure:
      if (const auto value = smi_number(cell)) row.figures.push_back({column.dimension, *value});
      break;
    case Use::none:
      break;
  }
}

Detection detect_nvidia_smi(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Detection::no;  // other rows say "undecided"
  head.remove_prefix(begin);
  const std::size_t end = head.find('\n');
  if (end != std::string_view::npos) {
    SmiTable table;
    const bool ours = table.take_header(head.substr(0, end)) != SmiTable::Header::none;
    return ours ? Detection::yes : Detection::no;
  }
  if (head.size() > kLongestSmiHeader) return Detection::no;
  if (head.front() == '#') {
    const std::string_view word = trimmed(head.substr(1));
    for (const std::string_view known : {"gpu", "Date", "Time"}) {
      if (known.starts_with(word) || word.starts_with(known)) return Detection::undecided;
    }
    return Detection::no;
  }
  const std::size_t comma = head.find(',');
  const std::string_view cell = trimmed(head.substr(0, comma));
  const bool may_be = comma == std::string_view::npos
                          ? may_become_smi_name(without_unit(cell)) || may_begin_row(cell)
                          : is_smi_name(without_unit(cell)) || begins_row(cell);
  return may_be ? Detection::undecided : Detection::no;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// The GPU's work in profiler cycles: the tables of Holistic Trace Analysis, as the analyses have
// them.
#include <algorithm>
#include <array>

#include "commands/report/format.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kGpuRowsShown = 20;

// An analysis, or a table inside one.
struct GpuTable {
  std::string_view analysis;
  std::string_view part;  // empty: its own table
  std::string_view title;
};

constexpr std::array kGpuTables = {
    GpuTable{"profiler_steps", "", "Steps: where their time went"},
    GpuTable{"temporal_breakdown", "", "Idle, computing, other work"},
    GpuTable{"idle_time_breakdown", "", "Why streams were idle"},
    GpuTable{"comm_comp_overlap", "", "Communication hidden behind computation"},
    GpuTable{"gpu_kernel_breakdown", "kernel_type", "Kinds of kernels"},
    GpuTable{"gpu_kernel_breakdown", "kernels", "Kernels"},
    GpuTable{"stragglers", "", "Ranks that the others wait for"},
    GpuTable{"cuda_kernel_launch_stats", "", "Launches"},
    GpuTable{"queue_length_summary", "", "Operations queued, by stream"},
    GpuTable{"memory_bw_summary", "", "Bandwidth of copies, GB/s"},
    GpuTable{"user_annotation_breakdown", "user_annotation", "Annotations"},
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.ends_with(end);
}

// "idle_time_ns" -> "idle time".
std::string title_of_column(std::string_view column) {
  for (const std::string_view unit : {"_ns", "_pctg"}) {
    if (ends_with(column, unit)) column.remove_suffix(unit.size());
  }
  std::string title(column);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string shown_number(std::string_view column, double value) {
  constexpr double kPerMicrosecond = 1000;
  if (ends_with(column, "_ns")) return report_format::duration(value / kPerMicrosecond);
  if (ends_with(column, "_pctg") || column == "percentage") return report_format::percent(value);
  if (ends_with(column, "_ratio")) return report_format::percent(value * 100);
  return report_format::figure(value);
}

void write_cell(TableWriter& table, std::string_view column, const Figure& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return table.name(*text);
  std::optional<double> number;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) number = double(*integer);
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) number = double(*count);
  if (const auto* real = std::get_if<double>(&cell)) number = *real;
  if (const auto* truth = std::get_if<bool>(&cell)) return table.name(*truth ? "yes" : "no");
  number ? table.number(*number, shown_number(column, *number)) : table.name("");
}

const FigureTable* find_table(const Figures& results, const GpuTable& wanted) {
  const auto group = [](const Figures* in, std::string_view name) -> const Figures* {
    const Figures::Value* value = in != nullptr ? in->find(name) : nullptr;
    const auto* found = value != nullptr ? std::get_if<std::unique_ptr<Figures>>(value) : nullptr;
    return found != nullptr ? found->get() : nullptr;
  };
  const Figures* found = group(&results, wanted.analysis);
  if (!wanted.part.empty()) found = group(found, wanted.part);
  return found != nullptr && found->table() ? &*found->table() : nullptr;
}

// Columns in which no cell says anything, as the node of most traces, are left out.
std::vector<std::size_t> columns_shown(const FigureTable& table) {
  std::vector<std::size_t> shown;
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    if (table.columns()[column] == "ts_ns") continue;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const Figure cell = table.at(row, column);
      const auto* text = std::get_if<std::string>(&cell);
      if (std::holds_alternative<std::monostate>(cell) || (text != nullptr && text->empty()))
        continue;
      shown.push_back(column);
      break;
    }
  }
  return shown;
}

void write_gpu_table(HtmlWriter& html, const GpuTable& wanted, const FigureTable& table) {
  const std::vector<std::size_t> columns = columns_shown(table);
  std::vector<std::string> titles;
  titles.reserve(columns.size());
  for (const std::size_t column : columns)
    titles.push_back(title_of_column(table.columns()[column]));
  std::vector<TableWriter::Column> heads;
  heads.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Figure first = table.at(0, columns[i]);
    heads.push_back({titles[i], !std::holds_alternative<std::string>(first)});
  }
  std::string id(wanted.analysis);
  if (!wanted.part.empty()) id.append("-").append(wanted.part);
  TableWriter out(html, id, wanted.title, heads);
  for (std::size_t row = 0; row < std::min(table.rows(), kGpuRowsShown); ++row) {
    out.begin_row();
    for (const std::size_t column : columns)
      write_cell(out, table.columns()[column], table.at(row, column));
    out.end_row();
  }
  out.end();
  write_left_out(html, table.rows(), kGpuRowsShown, "rows");
}

}  // namespace

std::vector<std::string> gpu_analyses_in_report() {
  std::vector<std::string> names;
  for (const GpuTable& table : kGpuTables) {
    const std::string name(table.analysis);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

void write_gpu_work(HtmlWriter& html, const ReportContent& content) {
  bool any = false;
  for (const GpuTable& wanted : kGpuTables) {
    const FigureTable* const table = find_table(content.results, wanted);
    if (table == nullptr || table->rows() == 0) continue;
    write_gpu_table(html, wanted, *table);
    any = true;
  }
  if (any) return;
  write_nothing(html,
                "These files have no trace of PyTorch's profiler with work of a GPU. "
                "torch.profiler.profile with tensorboard_trace_handler writes one for each cycle.");
}

}  // namespace trainwatch

// How much of the machines was used: statistics, histograms, heat map.
#include <algorithm>

#include "daemon/report/figures.h"
#include "daemon/report/heat_map_plot.h"
#include "daemon/report/histogram_plot.h"
#include "daemon/report/sections.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kRowsShown = 200;
constexpr std::size_t kHistogramsShown = 64;
constexpr std::size_t kHeatRowsShown = 200;

constexpr std::string_view kNoSamples =
    "There are no system metrics in these files. SageMaker writes them below system/, and so does "
    "trainwatch sample --out=DIR beside the job.";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_percent(std::string_view name) {
  return contains(name, "Utilization") || contains(name, "Percent");
}

std::string per_second(double number) {
  return figures::figure(number) + " /s";
}

std::string bytes_per_second(double number) {
  return figures::bytes(number) + "/s";
}

// How the values of a series are printed.
using Show = std::string (*)(double);
Show unit_of(std::string_view resource, std::string_view name) {
  if (resource == "cpu" || resource == "gpu" || resource == "memory") return figures::percent;
  return contains(name, "Bytes") ? bytes_per_second : per_second;
}

void write_statistics(HtmlWriter& html, const FigureTable& utilization) {
  TableWriter table(html, "utilization", "By node and resource",
                    {{"resource"},
                     {"node"},
                     {"what"},
                     {"samples", true},
                     {"mean", true},
                     {"min", true},
                     {"p50", true},
                     {"p95", true},
                     {"p99", true},
                     {"max", true}});
  for (std::size_t row = 0; row < std::min(utilization.rows.size(), kRowsShown); ++row) {
    const std::string_view resource = utilization.text(row, "Resource");
    const std::string_view dimension = utilization.text(row, "dimension");
    const std::string_view metric = utilization.text(row, "system_metric");
    std::string what(dimension);
    if (!metric.empty()) what.append(what.empty() ? "" : " ").append(metric);
    table.begin_row();
    table.name(resource);
    table.name(utilization.text(row, "nodeID"));
    table.name(what);
    table.number(utilization.number(row, "count"), figures::count);
    for (const std::string_view column :
         {"utilization_mean", "utilization_min", "utilization_p50", "utilization_p95",
          "utilization_p99", "utilization_max"}) {
      table.number(utilization.number(row, column), unit_of(resource, what));
    }
    table.end_row();
  }
  table.end();
  write_left_out(html, utilization.rows.size(), kRowsShown, "rows");
}

void write_device_usage(HtmlWriter& html, const FigureTable& usage) {
  if (usage.rows.empty()) return;
  TableWriter table(html, "device-usage", "Samples of CPU cores and GPUs, by how much was used",
                    {{"type"},
                     {"node"},
                     {"0\xE2\x80\x93"
                      "10 %",
                      true},
                     {"10\xE2\x80\x93"
                      "90 %",
                      true},
                     {"90\xE2\x80\x93"
                      "100 %",
                      true}});
  for (std::size_t row = 0; row < std::min(usage.rows.size(), kRowsShown); ++row) {
    table.begin_row();
    table.name(usage.text(row, "type"));
    table.name(usage.text(row, "nodeID"));
    for (const std::string_view column : {"(0, 10)", "(10, 90)", "(90, 100)"}) {
      table.number(usage.number(row, column), figures::count);
    }
    table.end_row();
  }
  table.end();
  write_left_out(html, usage.rows.size(), kRowsShown, "rows");
}

// Per cent only; of the CPU cores their mean, of the GPUs each.
bool is_shown(const BinCounts& histogram) {
  if (!is_percent(histogram.group)) return is_percent(histogram.series);
  return histogram.series == "total" || contains(histogram.group, "GPU");
}

// "GPUUtilization-nodeid:algo-1" and "gpu0" -> "gpu0 GPUUtilization · algo-1"
std::string title_of(const BinCounts& histogram) {
  const GroupName group = group_name(histogram.group);
  const std::string what = group.what.empty() ? "" : " " + std::string(group.what);
  return histogram.series + what + " \xC2\xB7 " + std::string(group.where);
}

void write_histograms(HtmlWriter& html, const std::vector<BinCounts>& histograms) {
  std::vector<const BinCounts*> shown;
  for (const BinCounts& histogram : histograms) {
    if (is_shown(histogram)) shown.push_back(&histogram);
  }
  if (shown.empty()) return;
  html.element("h3", "How often each utilisation was seen");
  html.element("p",
               "\xE2\x80\x9Ctotal\xE2\x80\x9D is the mean over the devices of the node at a time.",
               {{"class", "note"}});
  html.open("div", {{"class", "grid"}});
  for (std::size_t i = 0; i < std::min(shown.size(), kHistogramsShown); ++i) {
    draw_histogram(html, *shown[i], title_of(*shown[i]),
                   figures::count(shown[i]->values) + " samples", figures::whole_percent);
  }
  html.close();
  write_left_out(html, shown.size(), kHistogramsShown, "histograms");
}

// The rows of one node and dimension.
struct HeatGroup {
  std::string title;
  std::vector<HeatRow> devices;
  std::vector<HeatRow> totals;
};

// "cpu2" before "cpu10".
bool comes_first(const HeatRow& a, const HeatRow& b) {
  if (a.label.size() != b.label.size()) return a.label.size() < b.label.size();
  return a.label < b.label;
}

std::vector<HeatGroup> grouped(const HeatMap& map) {
  std::vector<HeatGroup> groups;
  for (const HeatMap::Row& row : map.rows) {
    const bool all = row.node == "node_total";
    const std::string title = (all ? "mean of all nodes" : row.node) + " \xC2\xB7 " + row.dimension;
    if (groups.empty() || groups.back().title != title) groups.push_back({title, {}, {}});
    const bool total = row.metric == "total";
    auto& rows = total ? groups.back().totals : groups.back().devices;
    rows.push_back({row.metric, &row.percent});
  }
  return groups;
}

}  // namespace

void write_utilization(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.utilization.rows.empty()) {
    write_nothing(html, kNoSamples);
    return;
  }
  write_statistics(html, job.utilization);
  write_device_usage(html, job.device_usage);
  write_histograms(html, job.metric_histograms);
}

void write_heat_map(HtmlWriter& html, const ReportContent& content) {
  const HeatMap& map = content.figures.heat_map;
  if (map.rows.empty() || map.width == 0) {
    write_nothing(html, kNoSamples);
    return;
  }
  html.element("p", "Each CPU core and GPU over the whole job: " +
                        figures::count(static_cast<double>(map.width)) + " columns, " +
                        figures::count(map.samples_per_column) + " samples in each.");
  draw_heat_scale(html);
  std::size_t room = kHeatRowsShown;
  std::size_t shown = 0;
  for (HeatGroup& group : grouped(map)) {
    std::sort(group.devices.begin(), group.devices.end(), comes_first);
    std::vector<HeatRow> rows = group.totals;
    if (rows.size() + group.devices.size() <= room) {
      rows.insert(rows.end(), group.devices.begin(), group.devices.end());
    }
    if (rows.empty() || rows.size() > room) continue;
    room -= rows.size();
    shown += rows.size();
    html.open("figure").open("figcaption");
    write_name(html, group.title, 100);
    html.close();
    draw_heat_map(html, group.title, rows, map.width);
    html.close();
  }
  write_left_out(html, map.rows.size(), shown, "rows");
}

}  // namespace trainwatch

// How much of the machines was used: statistics, histograms, heat map.
#include <algorithm>

#include "commands/report/format.h"
#include "commands/report/plot.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kSeriesShown = 200;
constexpr std::size_t kMetricHistogramsShown = 64;
constexpr std::size_t kHeatRowsShown = 200;

constexpr std::string_view kNoSamples =
    "These files have no system metrics. Run trainwatch sample --out=DIR beside the job; SageMaker "
    "writes them below system/.";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_percent(std::string_view name) {
  return contains(name, "Utilization") || contains(name, "Percent");
}

std::string per_second(double number) {
  return report_format::figure(number) + " /s";
}

std::string bytes_per_second(double number) {
  return report_format::bytes(number) + "/s";
}

// How the values of a series are printed.
using Show = std::string (*)(double);
Show unit_of(std::string_view resource, std::string_view name) {
  if (resource == "cpu" || resource == "gpu" || resource == "memory") return report_format::percent;
  return contains(name, "Bytes") ? bytes_per_second : per_second;
}

void write_statistics(HtmlWriter& html, const std::vector<UtilizationRow>& rows) {
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
  for (std::size_t i = 0; i < std::min(rows.size(), kSeriesShown); ++i) {
    const UtilizationRow& row = rows[i];
    std::string what(row.dimension);
    if (!row.metric.empty()) what.append(what.empty() ? "" : " ").append(row.metric);
    table.begin_row();
    table.name(row.resource);
    table.name(row.node);
    table.name(what);
    table.number(row.count, report_format::count);
    for (const auto& value : {row.mean, row.min, row.p50, row.p95, row.p99, row.max}) {
      table.number(value, unit_of(row.resource, what));
    }
    table.end_row();
  }
  table.end();
  write_left_out(html, rows.size(), kSeriesShown, "rows");
}

void write_device_usage(HtmlWriter& html, const std::vector<DeviceUsageRow>& rows) {
  if (rows.empty()) return;
  TableWriter table(html, "device-usage", "Samples of CPU cores and GPUs, by utilisation",
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
  for (std::size_t i = 0; i < std::min(rows.size(), kSeriesShown); ++i) {
    const DeviceUsageRow& row = rows[i];
    table.begin_row();
    table.name(row.type);
    table.name(row.node);
    for (const auto& samples : {row.idle, row.used, row.full})
      table.number(samples, report_format::count);
    table.end_row();
  }
  table.end();
  write_left_out(html, rows.size(), kSeriesShown, "rows");
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

void write_metric_histograms(HtmlWriter& html, const std::vector<BinCounts>& histograms) {
  std::vector<const BinCounts*> shown;
  for (const BinCounts& histogram : histograms) {
    if (is_shown(histogram)) shown.push_back(&histogram);
  }
  if (shown.empty()) return;
  html.element("h3", "Distribution of utilisation");
  html.element("p",
               "\xE2\x80\x9Ctotal\xE2\x80\x9D is the mean over the devices of the node at a time.",
               {{"class", "note"}});
  html.open("div", {{"class", "grid"}});
  for (std::size_t i = 0; i < std::min(shown.size(), kMetricHistogramsShown); ++i) {
    draw_histogram(html, *shown[i], title_of(*shown[i]),
                   report_format::count(shown[i]->values) + " samples",
                   report_format::whole_percent);
  }
  html.close();
  write_left_out(html, shown.size(), kMetricHistogramsShown, "histograms");
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
  if (job.utilization.empty()) {
    write_nothing(html, kNoSamples);
    return;
  }
  write_statistics(html, job.utilization);
  write_device_usage(html, job.device_usage);
  write_metric_histograms(html, job.metric_histograms);
}

void write_heat_map(HtmlWriter& html, const ReportContent& content) {
  const HeatMap& map = content.figures.heat_map;
  if (map.rows.empty() || map.width == 0) {
    write_nothing(html, kNoSamples);
    return;
  }
  html.element("p", "Each CPU core and GPU over the whole job: " +
                        report_format::count(static_cast<double>(map.width)) + " columns, " +
                        report_format::count(map.samples_per_column) + " samples in each.");
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

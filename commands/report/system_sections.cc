// SPDX-License-Identifier: Apache-2.0
// How much of the machines was used: statistics, histograms, heat map.
#include <algorithm>

#include "commands/report/format.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kSeriesShown = 200;

constexpr std::string_view kNoSamples =
    "These files have no system metrics. Run trainwatch sample --out=DIR beside the job; SageMaker "
    "writes them below system/.";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
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

}  // namespace

void write_utilization(HtmlWriter& html, const ReportContent& content) {
  const JobFigures& job = content.figures;
  if (job.utilization.empty()) {
    write_nothing(html, kNoSamples);
    return;
  }
  write_statistics(html, job.utilization);
  write_device_usage(html, job.device_usage);
}

}  // namespace trainwatch

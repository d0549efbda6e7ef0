// What was read, and what was thrown away.
#include "daemon/report/figures.h"
#include "daemon/report/sections.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kSourcesShown = 100;
constexpr std::size_t kRejectedShown = 10;

std::uint64_t rejected_of(const SourceFigures& source) {
  std::uint64_t records = 0;
  for (const auto& [reason, count] : source.rejects) records += count;
  return records;
}

void write_sources(HtmlWriter& html, const std::vector<SourceFigures>& sources) {
  TableWriter table(html, "sources", "",
                    {{"path"},
                     {"files", true},
                     {"bytes", true},
                     {"records", true},
                     {"rejected", true},
                     {"read errors", true}});
  for (std::size_t i = 0; i < std::min(sources.size(), kSourcesShown); ++i) {
    const SourceFigures& source = sources[i];
    const auto whole = [&](std::uint64_t number) {
      table.number(static_cast<double>(number), figures::count(static_cast<double>(number)));
    };
    table.begin_row();
    table.name(source.path);
    whole(source.files);
    table.number(static_cast<double>(source.bytes),
                 figures::bytes(static_cast<double>(source.bytes)));
    whole(source.records);
    whole(rejected_of(source));
    whole(source.read_errors);
    table.end_row();
  }
  table.end();
  write_left_out(html, sources.size(), kSourcesShown, "paths");
}

void write_rejects(HtmlWriter& html, const ReportContent& content) {
  std::map<std::string, std::uint64_t> reasons;
  for (const SourceFigures& source : content.sources) {
    for (const auto& [reason, count] : source.rejects) reasons[reason] += count;
  }
  if (reasons.empty()) return;
  html.open("p").text("Rejected records, by reason:");
  const char* separator = " ";
  for (const auto& [reason, count] : reasons) {
    html.text(separator + reason + " " + figures::count(static_cast<double>(count)));
    separator = ", ";
  }
  html.text(".").close();
  TableWriter table(html, "rejected", "Some of them", {{"file"}, {"reason"}, {"begins with"}});
  for (std::size_t i = 0; i < std::min(content.rejected.size(), kRejectedShown); ++i) {
    const RejectedRecord& record = content.rejected[i];
    table.begin_row();
    table.name(record.path);
    table.name(record.reason);
    table.name(record.beginning);
    table.end_row();
  }
  table.end();
}

}  // namespace

void write_input(HtmlWriter& html, const ReportContent& content) {
  if (content.sources.empty()) write_nothing(html, "No file was read.");
  if (!content.sources.empty()) write_sources(html, content.sources);
  if (!content.formats.empty()) {
    html.open("p").text("Files by format:");
    const char* separator = " ";
    for (const auto& [format, files] : content.formats) {
      html.text(separator + format + " " + figures::count(static_cast<double>(files)));
      separator = ", ";
    }
    html.text(".").close();
  }
  write_rejects(html, content);
}

}  // namespace trainwatch

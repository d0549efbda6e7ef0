// SPDX-License-Identifier: Apache-2.0
// What was read, what of it was rejected, and the rules that ran over it.
#include "commands/report/format.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kSourcesShown = 100;
constexpr std::size_t kRejectedFilesShown = 10;

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
      table.number(static_cast<double>(number), report_format::count(static_cast<double>(number)));
    };
    table.begin_row();
    table.name(source.path);
    whole(source.files);
    table.number(static_cast<double>(source.bytes),
                 report_format::bytes(static_cast<double>(source.bytes)));
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
    html.text(separator + reason + " " + report_format::count(static_cast<double>(count)));
    separator = ", ";
  }
  html.text(".").close();
  TableWriter table(html, "rejected", "Examples", {{"file"}, {"reason"}, {"begins with"}});
  for (std::size_t i = 0; i < std::min(content.rejected.size(), kRejectedFilesShown); ++i) {
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
  if (content.sources.empty()) write_nothing(html, "No files were read.");
  if (!content.sources.empty()) write_sources(html, content.sources);
  if (!content.formats.empty()) {
    html.open("p").text("Files by format:");
    const char* separator = " ";
    for (const auto& [format, files] : content.formats) {
      html.text(separator + format + " " + report_format::count(static_cast<double>(files)));
      separator = ", ";
    }
    html.text(".").close();
  }
  write_rejects(html, content);
}

namespace {

constexpr std::size_t kLinksShown = 12;  // of a rule, to its alerts

void write_parameters(HtmlWriter& html, const RuleConfig& rule) {
  html.open("td", {{"class", "parameters"}});
  const char* separator = "";
  for (const Param& param : rule.spec->params) {
    const std::string value = param.print(rule.params);
    const std::string standard = param.print(rule.spec->defaults);
    html.text(separator).open("span", {{"title", param.help}});
    html.text(std::string(param.name) + "\xC2\xA0").element("b", value);
    if (value != standard) html.text(" (default " + standard + ")");
    html.close();
    separator = ", ";
  }
  html.close();
}

void write_fired(HtmlWriter& html, const RuleConfig& rule, const ReportContent& content,
                 const std::vector<const Alert*>& alerts) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    if (alerts[i]->rule == rule.spec->id) places.push_back(i);
  }
  const auto times = static_cast<double>(places.size());
  html.open("td", {{"class", "number"}});
  write_figure(html, times, report_format::count(times));
  html.close().open("td", {{"class", "links"}});
  std::size_t links = 0;
  for (const std::size_t place : places) {
    if (place >= kAlertsShown || links == kLinksShown) break;
    const std::string number = std::to_string(place + 1);
    html.text(links++ == 0 ? "" : " ").element("a", number, {{"href", "#alert-" + number}});
  }
  if (links < places.size()) html.text(" \xE2\x80\xA6");
  // Silence for lack of input would look like good news.
  const auto why = content.undecided.find(std::string(rule.spec->id));
  if (why != content.undecided.end()) html.element("span", why->second, {{"class", "undecided"}});
  html.close();
}

}  // namespace

void write_rules(HtmlWriter& html, const ReportContent& content) {
  if (content.rules.empty()) {
    write_nothing(html, "No rule is enabled; see `rules` in the configuration.");
  } else {
    const std::vector<const Alert*> alerts = alerts_in_order(content);
    TableWriter table(html, "rule-summary", "",
                      {{"rule"}, {"what it says"}, {"fired", true}, {"alerts"}, {"parameters"}});
    for (const RuleConfig& rule : content.rules) {
      const std::string id(rule.spec->id);
      html.open("tr", {{"id", "rule-" + id}, {"data-rule", id}});
      html.open("td").element("code", id).close().element("td", rule.spec->summary);
      write_fired(html, rule, content, alerts);
      write_parameters(html, rule);
      html.close();
    }
    table.end();
  }
  if (content.rules_off.empty()) return;
  html.open("p", {{"class", "note"}}).text("Not enabled:");
  for (const std::string& rule : content.rules_off) html.text(" ").element("code", rule);
  html.text(".").close();
}

}  // namespace trainwatch

// Which rules ran, with which parameters, and how often each fired.
#include "daemon/report/figures.h"
#include "daemon/report/sections.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
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

void write_fired(HtmlWriter& html, const RuleConfig& rule,
                 const std::vector<const Alert*>& alerts) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    if (alerts[i]->rule == rule.spec->id) places.push_back(i);
  }
  const auto times = static_cast<double>(places.size());
  html.open("td", {{"class", "n"}});
  write_figure(html, times, figures::count(times));
  html.close().open("td", {{"class", "links"}});
  std::size_t links = 0;
  for (const std::size_t place : places) {
    if (place >= kAlertsShown || links == kLinksShown) break;
    const std::string number = std::to_string(place + 1);
    html.text(links++ == 0 ? "" : " ").element("a", number, {{"href", "#alert-" + number}});
  }
  if (links < places.size()) html.text(" \xE2\x80\xA6");
  html.close();
}

}  // namespace

void write_rules(HtmlWriter& html, const ReportContent& content) {
  if (content.rules.empty()) {
    write_nothing(html, "No rule was switched on; rules: in the configuration says which are.");
  } else {
    const std::vector<const Alert*> alerts = alerts_in_order(content);
    TableWriter table(html, "rule-summary", "",
                      {{"rule"}, {"what it says"}, {"fired", true}, {"alerts"}, {"parameters"}});
    for (const RuleConfig& rule : content.rules) {
      const std::string id(rule.spec->id);
      html.open("tr", {{"id", "rule-" + id}, {"data-rule", id}});
      html.open("td").element("code", id).close().element("td", rule.spec->summary);
      write_fired(html, rule, alerts);
      write_parameters(html, rule);
      html.close();
    }
    table.end();
  }
  if (content.rules_off.empty()) return;
  html.open("p", {{"class", "note"}}).text("Not switched on:");
  for (const std::string& rule : content.rules_off) html.text(" ").element("code", rule);
  html.text(".").close();
}

}  // namespace trainwatch

#include <array>

#include "daemon/report/figures.h"
#include "daemon/report/page_style.h"
#include "daemon/report/report_content.h"
#include "daemon/report/sections.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kTitleShown = 100;

constexpr std::array kSections = {
    Section{"rules", "Rules", write_rules},
    Section{"alerts", "Alerts", write_alerts},
    Section{"phases", "Phases of the job", write_phases},
    Section{"step-statistics", "Step statistics", write_step_statistics},
    Section{"step-durations", "Step durations", write_step_durations},
    Section{"utilization-section", "Utilisation", write_utilization},
    Section{"heat-map", "Heat map", write_heat_map},
    Section{"data-loading", "Data loading", write_data_loading},
    Section{"python-profiles", "Python profiles", write_python_profiles},
    Section{"input", "What was read", write_input},
};

// The job, or where its files are.
std::string title_of(const ReportContent& content) {
  if (!content.job.empty()) return content.job;
  return content.sources.empty() ? "no files" : content.sources.front().path;
}

void write_head(HtmlWriter& html, const ReportContent& content) {
  html.open("head").empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
  html.empty("meta", {{"name", "generator"}, {"content", content.program}});
  html.element("title", "trainwatch report");
  html.style(page_style()).close();
}

std::size_t alerts_of(const ReportContent& content, Severity severity) {
  std::size_t alerts = 0;
  for (const Alert& alert : content.alerts) alerts += alert.severity == severity ? 1 : 0;
  return alerts;
}

void write_overview(HtmlWriter& html, const ReportContent& content) {
  html.open("header").element("p", "Profiler report", {{"class", "kind"}}).open("h1");
  write_name(html, title_of(content), kTitleShown);
  html.close().open("p", {{"class", "overview"}});
  const JobPhases& phases = content.figures.phases_of_job;
  if (phases.job_us) html.text(figures::duration(*phases.job_us) + " of job time. ");
  if (content.alerts.empty()) html.text("No alerts.");
  const char* separator = "";
  for (const Severity severity : {Severity::critical, Severity::warning, Severity::info}) {
    const auto alerts = static_cast<double>(alerts_of(content, severity));
    if (alerts == 0) continue;
    html.text(separator).open("strong", {{"class", to_string(severity)}});
    html.text(figures::count(alerts) + " " + std::string(to_string(severity))).close();
    separator = ", ";
  }
  html.text(content.alerts.empty() ? "" : " alerts.").close();
  html.open("nav", {{"aria-label", "Sections"}});
  for (const Section& section : kSections) {
    html.element("a", section.title, {{"href", "#" + std::string(section.id)}}).text(" ");
  }
  html.close().close();
}

}  // namespace

void write_left_out(HtmlWriter& html, std::size_t all, std::size_t shown, std::string_view what) {
  if (all <= shown) return;
  html.element("p",
               figures::count(static_cast<double>(all - shown)) + " more " + std::string(what) +
                   " of " + figures::count(static_cast<double>(all)) + " are left out here.",
               {{"class", "note"}});
}

std::string report_page(const ReportContent& content) {
  HtmlWriter html;
  html.open("html", {{"lang", "en"}});
  write_head(html, content);
  html.open("body");
  write_overview(html, content);
  html.open("main");
  for (const Section& section : kSections) {
    const std::string heading = std::string(section.id) + "-title";
    html.open("section", {{"id", section.id}, {"aria-labelledby", heading}});
    html.element("h2", section.title, {{"id", heading}});
    section.write(html, content);
    html.close();
  }
  html.close();
  html.element("footer", content.program + ". All times are UTC.");
  html.close().close();
  return html.take() + "\n";
}

}  // namespace trainwatch

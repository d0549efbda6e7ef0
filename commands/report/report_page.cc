// SPDX-License-Identifier: Apache-2.0
// The page: what a reader without scripts sees, the live page's program with the answers that it
// asks for, and the tables.
#include <algorithm>
#include <array>
#include <string_view>

#include "commands/report/content_source.h"
#include "commands/report/format.h"
#include "commands/report/report_content.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"
#include "daemon/net/web_assets.h"

namespace trainwatch {
namespace {

constexpr std::size_t kTitleShown = 100;

constexpr std::array kSections = {
    Section{"rules", "Rules", write_rules},
    Section{"phases", "Phases of the job", write_phases},
    Section{"step-statistics", "Step statistics", write_step_statistics},
    Section{"utilization-section", "Utilisation", write_utilization},
    Section{"data-loading", "Data loading", write_data_loading},
    Section{"gpu-work", "GPU work in profiler cycles", write_gpu_work},
    Section{"python-profiles", "Python profiles", write_python_profiles},
    Section{"input", "Input", write_input},
};

// Null: the program was built without it.
const WebAsset* asset(std::string_view name) {
  const auto all = web_assets();
  const auto found = std::ranges::find(all, name, &WebAsset::name);
  return found == all.end() ? nullptr : &*found;
}

std::string_view bytes_of(std::string_view name) {
  const WebAsset* const found = asset(name);
  return found != nullptr ? found->bytes : std::string_view();
}

// By which a policy allows one script or style sheet and no other.
std::string allowed(std::string_view name) {
  const WebAsset* const found = asset(name);
  return found != nullptr ? " '" + content_source(found->hash) + "'" : std::string();
}

std::string policy() {
  return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src" +
         allowed("page.css") + allowed("report.css") + "; script-src" + allowed("page.js");
}

// The job, or where its files are.
std::string title_of(const ReportContent& content) {
  if (!content.job.empty()) return content.job;
  return content.sources.empty() ? "no files" : content.sources.front().path;
}

void write_head(HtmlWriter& html, const ReportContent& content) {
  html.open("head").empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  html.empty("meta", {{"name", "generator"}, {"content", content.program}});
  html.element("title", "trainwatch report");
  html.style(bytes_of("page.css")).style(bytes_of("report.css")).close();
}

// The script replaces it.
void write_without_script(HtmlWriter& html, const ReportContent& content) {
  html.open("div", {{"id", "page"}}).open("header").open("h1");
  write_name(html, title_of(content), kTitleShown);
  html.close().close().open("main");
  html.element("p", content.headline, {{"class", "sentence"}});
  html.element("p", "The charts need scripts; what follows does not.", {{"class", "note"}});
  html.open("section", {{"id", "alerts"}, {"aria-labelledby", "alerts-title"}});
  html.element("h2", "Alerts", {{"id", "alerts-title"}});
  write_alerts(html, content);
  html.close().close().close();
}

void write_details(HtmlWriter& html, const ReportContent& content) {
  html.open("section", {{"class", "details"}, {"aria-labelledby", "details-title"}});
  html.element("h2", "Tables", {{"id", "details-title"}});
  html.open("nav", {{"aria-label", "Tables"}});
  for (const Section& section : kSections) {
    html.element("a", section.title, {{"href", "#" + std::string(section.id)}}).text(" ");
  }
  html.close();
  for (const Section& section : kSections) {
    const std::string heading = std::string(section.id) + "-title";
    html.open("section", {{"id", section.id}, {"aria-labelledby", heading}});
    html.element("h3", section.title, {{"id", heading}});
    section.write(html, content);
    html.close();
  }
  html.close();
}

}  // namespace

void write_left_out(HtmlWriter& html, std::size_t all, std::size_t shown, std::string_view what) {
  if (all <= shown) return;
  html.element("p",
               report_format::count(static_cast<double>(all - shown)) + " more " +
                   std::string(what) + " of " + report_format::count(static_cast<double>(all)) +
                   " are left out here.",
               {{"class", "note"}});
}

std::string report_page(const ReportContent& content) {
  HtmlWriter html;
  html.open("html", {{"lang", "en"}});
  write_head(html, content);
  html.open("body");
  write_without_script(html, content);
  write_details(html, content);
  html.element("footer", content.program + ". All times in tables are UTC.");
  html.json("trainwatch-answers", content.answers).script(bytes_of("page.js"));
  html.close().close();
  return html.take() + "\n";
}

}  // namespace trainwatch

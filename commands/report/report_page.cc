// The page: its head and style sheet, and the sections one after the other.
#include <array>
#include <string_view>

#include "commands/report/format.h"
#include "commands/report/report_content.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: light dark; font-size: 15px;
  --ground: #ffffff; --text: #16212b; --quiet: #5b6873; --line: #dde2e7; --link: #0b6b8a;
  --heat-ground: #f0f3f5; --heat: #0b4f71;
  --s1: #2f6fb0; --s2: #c2791f; --s3: #3f8a5c; --s4: #8a5aa8;
  --info: #2f6fb0; --warning: #b36200; --critical: #b3261e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #10161b; --text: #e3e9ee; --quiet: #94a3b0; --line: #2b3844; --link: #6cc5e0;
    --heat-ground: #18212a; --heat: #8fd0f2;
    --s1: #7fb4ec; --s2: #f0a64b; --s3: #6fcf97; --s4: #c79be6;
    --info: #7fb4ec; --warning: #f0a64b; --critical: #ff8a80;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 3rem;
  background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
}
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code { font: .92em ui-monospace, monospace; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 2.4rem 0 .6rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); font-size: 1.15rem; }
h3 { margin: 1.6rem 0 .4rem; font-size: 1rem; }
p { margin: .4rem 0; }
.kind, .note, .nothing, footer { color: var(--quiet); }
.kind { margin: 0 0 .1rem; }
.note, .legend, footer { font-size: .85rem; }
.name { unicode-bidi: isolate; }
.short, td:first-child code { white-space: nowrap; }
nav { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin-top: .8rem; font-size: .9rem; }
footer { margin-top: 3rem; }
strong.info, .info .severity { color: var(--info); }
strong.warning, .warning .severity { color: var(--warning); }
strong.critical, .critical .severity { color: var(--critical); }

.wide { overflow-x: auto; }
table { width: 100%; margin: .4rem 0 1rem; border-collapse: collapse; font-size: .86rem; }
caption { padding: .5rem 0 .2rem; text-align: left; font-weight: 600; }
th, td { padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
th { color: var(--quiet); font-weight: normal; white-space: nowrap; }
td { overflow-wrap: anywhere; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
.undecided { color: var(--quiet); font-style: italic; }
td.parameters { color: var(--quiet); }
td.parameters b { color: var(--text); font-weight: 500; }

.alert { margin: 0 0 .8rem; padding: .1rem 0 .1rem .9rem; border-left: 3px solid var(--info); overflow-wrap: anywhere; }
.alert.warning { border-color: var(--warning); }
.alert.critical { border-color: var(--critical); }
.alert:target { background: var(--heat-ground); }
.alert p { margin: .15rem 0; }
.alert .head, .alert .when, .alert .next { font-size: .88rem; }
.alert .when, .alert .next { color: var(--quiet); }
.alert .head .name { margin-left: .5rem; }
.alert .summary { font-weight: 600; }
dl { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; margin: .3rem 0; font-size: .82rem; }
dl div { max-width: 100%; }
dt { display: inline; color: var(--quiet); }
dd { display: inline; margin: 0 0 0 .35rem; font-variant-numeric: tabular-nums; }

figure { margin: .6rem 0 1.2rem; }
figcaption { font-size: .86rem; font-weight: 600; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
text.end { text-anchor: end; }
text.middle { text-anchor: middle; }
.axis, .grid path, path.grid { fill: none; stroke: var(--line); }
.bar { height: 22px; border-radius: 4px; }
.legend { display: flex; flex-wrap: wrap; align-items: center; gap: .1rem 1.1rem; color: var(--quiet); }
.key { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; }
.key.s1 { background: var(--s1); } .key.s2 { background: var(--s2); }
.key.s3 { background: var(--s3); } .key.s4 { background: var(--s4); }
.fill.s1 { fill: var(--s1); } .fill.s2 { fill: var(--s2); } .fill.s3 { fill: var(--s3); }
.dots { fill: none; stroke-width: 2.6; stroke-linecap: round; stroke-opacity: .75; }
.dots.s1 { stroke: var(--s1); } .dots.s2 { stroke: var(--s2); }
.dots.s3 { stroke: var(--s3); } .dots.s4 { stroke: var(--s4); }
.long { fill: transparent; stroke: var(--critical); stroke-width: 1.2; }
div.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .4rem 1.6rem; }
.histogram { margin: .4rem 0; break-inside: avoid; }
.histogram figcaption { font-weight: 500; font-size: .82rem; }
.histogram .note { margin: 0; }
.heat path, .scale path { fill: none; stroke: var(--heat); stroke-width: 12; }
.ground { fill: var(--heat-ground); }
svg.scale { display: inline-block; width: 110px; }
.h1 { stroke-opacity: .1; } .h2 { stroke-opacity: .2; } .h3 { stroke-opacity: .3; } .h4 { stroke-opacity: .4; }
.h5 { stroke-opacity: .5; } .h6 { stroke-opacity: .6; } .h7 { stroke-opacity: .7; } .h8 { stroke-opacity: .8; }
.h9 { stroke-opacity: .9; } .h10 { stroke-opacity: 1; }

@page { size: A4; margin: 16mm 14mm; }
@media print {
  :root { font-size: 9.5pt; }
  body { max-width: none; padding: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav { display: none; }
  a { color: inherit; }
  h2, h3, figcaption, caption { break-after: avoid; }
  tr, .alert, figure.rank, .bar { break-inside: avoid; }
  thead { display: table-header-group; }
  .wide { overflow: visible; }
}
)css";

constexpr std::size_t kTitleShown = 100;

constexpr std::array kSections = {
    Section{"alerts", "Alerts", write_alerts},
    Section{"rules", "Rules", write_rules},
    Section{"phases", "Phases of the job", write_phases},
    Section{"step-statistics", "Step statistics", write_step_statistics},
    Section{"step-durations", "Step durations", write_step_durations},
    Section{"utilization-section", "Utilisation", write_utilization},
    Section{"heat-map", "Heat map", write_heat_map},
    Section{"data-loading", "Data loading", write_data_loading},
    Section{"gpu-work", "GPU work in profiler cycles", write_gpu_work},
    Section{"python-profiles", "Python profiles", write_python_profiles},
    Section{"input", "Input", write_input},
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
  html.style(kStyle).close();
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
  if (phases.job_us) html.text(report_format::duration(*phases.job_us) + " of job time. ");
  if (content.alerts.empty()) html.text("No alerts.");
  const char* separator = "";
  for (const Severity severity : {Severity::critical, Severity::warning, Severity::info}) {
    const auto alerts = static_cast<double>(alerts_of(content, severity));
    if (alerts == 0) continue;
    html.text(separator).open("strong", {{"class", to_string(severity)}});
    html.text(report_format::count(alerts) + " " + std::string(to_string(severity))).close();
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

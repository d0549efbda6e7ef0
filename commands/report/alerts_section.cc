// SPDX-License-Identifier: Apache-2.0
// The alerts, the worst first, the latest version of each.
#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "commands/report/format.h"
#include "commands/report/html_writer.h"
#include "commands/report/sections.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kTextShown = 500;
constexpr std::size_t kTermShown = 60;
constexpr std::size_t kValueShown = 160;
constexpr std::size_t kEvidenceShown = 24;  // fields

double to_us(Time time) {
  return static_cast<double>(to_ns(time)) / 1e3;
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string cause_text(const Cause& cause) {
  if (cause.name == CauseName::unattributed) {
    std::string text = "unknown";
    for (std::size_t i = 0; i < cause.missing.size(); ++i) {
      text.append(i == 0 ? ": no " : ", ").append(cause.missing[i]);
    }
    return text;
  }
  std::string text = with_spaces(to_string(cause.name));
  if (cause.coverage > 0) text += " (" + report_format::percent(100 * cause.coverage) + ")";
  return cause.explanation.empty() ? text : text + ": " + cause.explanation;
}

void write_subject(HtmlWriter& html, const Subject& subject) {
  const auto part = [&](const std::string& text) {
    html.text(" ");
    write_name(html, text, kTermShown);
  };
  if (!subject.job.empty()) part(subject.job);
  if (!subject.node.empty()) part(subject.node);
  if (subject.rank != kNoRank) part("rank " + std::to_string(subject.rank));
  if (subject.process != kNoProcess) part("process " + std::to_string(subject.process));
  if (!subject.gpu.empty()) part("gpu " + subject.gpu);
}

void write_head(HtmlWriter& html, const Alert& alert, std::size_t number) {
  const bool ended = alert.state == Alert::State::resolved;
  html.open("p", {{"class", "head"}});
  html.element("a", std::to_string(number), {{"href", "#alert-" + std::to_string(number)}});
  html.text(" ").element("strong", to_string(alert.severity), {{"class", "severity"}}).text(" ");
  if (alert.rule.starts_with("_self/")) {
    html.element("code", alert.rule);
  } else {
    html.open("a", {{"href", "#rule-" + alert.rule}}).element("code", alert.rule).close();
  }
  write_subject(html, alert.subject);
  if (alert.verdict.step != kNoStep) html.text(" step " + std::to_string(alert.verdict.step));
  if (alert.count > 1) {
    html.text(", seen " + report_format::count(static_cast<double>(alert.count)) + " times");
  }
  html.close();
  html.open("p", {{"class", "when"}}).text(report_format::moment(to_us(alert.started_at)));
  if (ended && alert.ended_at != kNoTime) {
    const double lasted = to_us(alert.ended_at) - to_us(alert.started_at);
    html.text(" to " + report_format::moment(to_us(alert.ended_at)));
    html.text(", " + report_format::duration(lasted));
  } else {
    html.text(", still firing at the end of the files");
  }
  html.close();
}

// One fact of an alert, as a term and what it is.
void write_fact(HtmlWriter& html, std::string_view term, std::string_view value) {
  html.open("div").element("dt", shortened(term, kTermShown), {{"class", "name"}});
  html.element("dd", shortened(value, kValueShown), {{"class", "name"}}).close();
}

// "median_seconds" and 0.25 -> "median", "250 ms"
void write_number(HtmlWriter& html, std::string_view key, double number) {
  constexpr std::string_view kSeconds = "_seconds";
  constexpr std::string_view kPercent = "_percent";
  if (key.ends_with(kSeconds)) {
    key.remove_suffix(kSeconds.size());
    write_fact(html, with_spaces(key), report_format::duration(number * 1e6));
  } else if (key.ends_with(kPercent)) {
    key.remove_suffix(kPercent.size());
    write_fact(html, with_spaces(key), report_format::percent(number));
  } else if (key == "seconds") {
    write_fact(html, "duration", report_format::duration(number * 1e6));
  } else {
    write_fact(html, with_spaces(key), report_format::figure(number));
  }
}

std::string in_unit(double number, const std::string& unit) {
  if (unit == "seconds") return report_format::duration(number * 1e6);
  if (unit == "percent") return report_format::percent(number);
  return report_format::figure(number) + (unit.empty() ? "" : " " + unit);
}

void write_evidence(HtmlWriter& html, const std::string& evidence) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(repaired_utf8(evidence)).get(document) != simdjson::SUCCESS) return;
  std::size_t fields = 0;
  simdjson::dom::object evidence_fields;
  if (document.get(evidence_fields) != simdjson::SUCCESS) return;
  for (const auto& [key, value] : evidence_fields) {
    if (++fields > kEvidenceShown) continue;
    double number = 0;
    std::string_view text;
    if (value.get(number) == simdjson::SUCCESS) {
      write_number(html, key, number);
    } else if (value.get(text) == simdjson::SUCCESS) {
      write_fact(html, with_spaces(key), text);
    } else {
      write_fact(html, with_spaces(key), simdjson::minify(value));
    }
  }
  if (fields > kEvidenceShown) {
    write_fact(html, "left out", std::to_string(fields - kEvidenceShown) + " fields");
  }
}

void write_alert(HtmlWriter& html, const Alert& alert, std::size_t number) {
  const Verdict& verdict = alert.verdict;
  html.open("article", {{"id", "alert-" + std::to_string(number)},
                        {"class", "alert " + std::string(to_string(alert.severity))},
                        {"data-alert", alert.id}});
  write_head(html, alert, number);
  html.element("p", shortened(verdict.summary, kTextShown), {{"class", "summary"}});
  html.element("p", "Cause: " + shortened(cause_text(verdict.cause), kTextShown));
  if (!verdict.next.empty()) {
    html.element("p", shortened(verdict.next, kTextShown), {{"class", "next"}});
  }
  html.open("dl");
  write_fact(html, "value", in_unit(verdict.value, verdict.unit));
  write_fact(html, "threshold", in_unit(verdict.threshold, verdict.unit));
  write_fact(html, "baseline", in_unit(verdict.baseline, verdict.unit));
  if (!verdict.evidence.empty()) write_evidence(html, verdict.evidence);
  html.close().close();
}

}  // namespace

std::vector<const Alert*> alerts_in_order(const ReportContent& content) {
  std::vector<const Alert*> alerts;
  for (const Alert& alert : content.alerts) alerts.push_back(&alert);
  std::stable_sort(alerts.begin(), alerts.end(), [](const Alert* a, const Alert* b) {
    if (a->severity != b->severity) return a->severity > b->severity;
    return a->started_at < b->started_at;
  });
  return alerts;
}

void write_alerts(HtmlWriter& html, const ReportContent& content) {
  const std::vector<const Alert*> alerts = alerts_in_order(content);
  if (alerts.empty()) write_nothing(html, "No rule fired.");
  for (std::size_t i = 0; i < std::min(alerts.size(), kAlertsShown); ++i) {
    write_alert(html, *alerts[i], i + 1);
  }
  write_left_out(html, alerts.size(), kAlertsShown, "alerts");
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/shown_alert.h"

#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "daemon/terminal/columns.h"
#include "daemon/terminal/local_zone.h"
#include "pipeline/decode/json_member.h"
#include "pipeline/engine/headline_text.h"

namespace trainwatch {
namespace {

using simdjson::dom::element;

constexpr std::size_t kIndent = 4;
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kOver = "\x1b[32m";

Severity severity_of(std::string_view name) {
  for (const Severity severity : {Severity::critical, Severity::warning}) {
    if (to_string(severity) == name) return severity;
  }
  return Severity::info;
}

// "ranks 0-7 of bert", "GPU 2 of algo-1 of bert", "algo-1:4711"
std::string place_of(const element& subject) {
  const std::string job = text_member(subject, "job");
  const std::string node = text_member(subject, "node");
  const std::string gpu = text_member(subject, "gpu");
  const std::string process = number_member(subject, "process");
  std::string ranks = text_member(subject, "ranks");
  if (ranks.empty()) ranks = number_member(subject, "rank");
  std::string place;
  if (!gpu.empty()) {
    place = "GPU " + gpu + (node.empty() ? "" : " of " + node);
  } else if (!ranks.empty()) {
    place = (ranks.find_first_of(",-") == std::string::npos ? "rank " : "ranks ") + ranks;
  } else if (!node.empty()) {
    place = process.empty() ? "node " + node : node + ":" + process;
  }
  if (job.empty()) return place;
  return place.empty() ? job : place + " of " + job;
}

std::string missing_of(const element& cause) {
  std::string text;
  simdjson::dom::array missing;
  if (cause["missing"].get_array().get(missing) != simdjson::SUCCESS) return text;
  for (const element input : missing) {
    std::string_view name;
    if (input.get_string().get(name) != simdjson::SUCCESS) continue;
    text.append(text.empty() ? "; missing: " : ", ").append(name);
  }
  return text;
}

// "It waited 3.65 s for its input. (input_wait, 99 %)"
std::string cause_of(const element& cause) {
  const std::string name = text_member(cause, "name");
  if (name == to_string(CauseName::unattributed)) return "not known" + missing_of(cause) + ".";
  double coverage = 0;
  if (cause["coverage"].get_double().get(coverage) != simdjson::SUCCESS) return {};
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * std::clamp(coverage, 0.0, 1.0));
  const std::string explanation = text_member(cause, "explanation");
  return (explanation.empty() ? "" : explanation + " ") + "(" + name + ", " + percent + ")";
}

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return "\x1b[1;31m";
    case Severity::warning:
      return "\x1b[33m";
    case Severity::info:
      return "\x1b[36m";
  }
  return {};
}

std::string upper(std::string_view text) {
  std::string large(text);
  std::ranges::transform(large, large.begin(), [](unsigned char c) { return std::toupper(c); });
  return large;
}

std::string clock_of(Time time, Time now) {
  return time == kNoTime ? "an unknown time" : clock_words(time, now, local_zone(time));
}

std::string placed(const ShownAlert& alert) {
  return (alert.place.empty() ? "" : " on " + alert.place) + ": " + alert.summary;
}

// The first line, its first word in colour.
void append_first(std::string& text, const std::string& line, const TextStyle& style,
                  std::string_view colour) {
  append_wrapped(text, line, 0, style.width);
  if (!style.colour) return;
  text.insert(line.find(' '), kPlain);
  text.insert(0, colour);
}

void append_reasons(std::string& text, const ShownAlert& alert, const TextStyle& style) {
  const bool itself = alert.rule.starts_with("_self/");
  if (!alert.cause.empty() && !itself)
    append_wrapped(text, "Cause: " + alert.cause, kIndent, style.width);
  if (!alert.next.empty()) append_wrapped(text, "Next: " + alert.next, kIndent, style.width);
  if (alert.provisional)
    append_wrapped(text, "It could not be stored yet, and comes again.", kIndent, style.width);
}

}  // namespace

std::string end_of(const ShownAlert& alert) {
  std::string why = alert.ended_because;
  std::ranges::replace(why, '_', ' ');
  return duration_words(alert.ended - alert.since) + (why.empty() ? why : "; " + why);
}

Result<ShownAlert> shown_alert(std::string_view json) {
  simdjson::dom::parser parser;
  element object;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS)
    return Error{"not JSON"};
  ShownAlert alert;
  alert.id = text_member(object, "id");
  alert.rule = text_member(object, "rule");
  if (alert.id.empty() || alert.rule.empty()) return Error{"not an alert"};
  alert.resolved = text_member(object, "state") == "resolved";
  const std::string incident = text_member(object, "incident");
  alert.part = !incident.empty() && incident != alert.id;
  bool provisional = false;
  alert.provisional =
      object["provisional"].get_bool().get(provisional) == simdjson::SUCCESS && provisional;
  alert.severity = severity_of(text_member(object, "severity"));
  alert.started = time_member(object, "started_at");
  alert.ended = time_member(object, "ended_at");
  alert.ended_because = text_member(object, "ended_because");
  alert.summary = text_member(object, "summary");
  alert.next = text_member(object, "next");
  element inner;
  if (object["subject"].get(inner) == simdjson::SUCCESS) alert.place = place_of(inner);
  if (object["cause"].get(inner) == simdjson::SUCCESS) alert.cause = cause_of(inner);
  if (object["evidence"].get(inner) == simdjson::SUCCESS) alert.since = time_member(inner, "since");
  if (alert.since == kNoTime) alert.since = alert.started;
  return alert;
}

std::string text_of(const ShownAlert& alert, const TextStyle& style, Time now) {
  std::string text;
  const std::string severity = upper(to_string(alert.severity));
  if (alert.resolved) {
    append_first(text, "OVER at " + clock_of(alert.ended, now) + placed(alert), style, kOver);
    append_wrapped(
        text,
        "(" + severity + " since " + clock_of(alert.since, now) + ", for " + end_of(alert) + ")",
        kIndent, style.width);
    return text;
  }
  append_first(text, severity + " since " + clock_of(alert.since, now) + placed(alert), style,
               colour_of(alert.severity));
  append_reasons(text, alert, style);
  return text;
}

std::string past_text_of(const ShownAlert& alert, const TextStyle& style, Time now) {
  if (!alert.resolved) return text_of(alert, style, now);
  std::string text;
  append_first(
      text, upper(to_string(alert.severity)) + " at " + clock_of(alert.since, now) + placed(alert),
      style, colour_of(alert.severity));
  append_reasons(text, alert, style);
  if (alert.ended - alert.since >= kBrief)
    append_wrapped(text, "Over after " + end_of(alert) + ".", kIndent, style.width);
  return text;
}

}  // namespace trainwatch

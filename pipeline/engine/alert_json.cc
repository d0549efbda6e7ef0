// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_json.h"

#include <simdjson.h>
#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "pipeline/decode/json_member.h"

namespace trainwatch {
namespace {

// Not part of any id, in which quotes are escaped.
constexpr std::string_view kBehindId = R"(,"state":)";

void write_subject(JsonWriter& json, const Alert& alert) {
  const Subject& subject = alert.subject;
  json.key("subject").begin_object();
  if (!subject.job.empty()) json.field("job", subject.job);
  if (alert.attempt != 0) json.field("attempt", alert.attempt);
  if (!subject.node.empty()) json.field("node", subject.node);
  if (subject.rank != kNoRank) json.field("rank", subject.rank);
  if (subject.process != kNoProcess) json.field("process", subject.process);
  if (!alert.ranks.empty()) json.field("ranks", alert.ranks);
  if (!subject.gpu.empty()) json.field("gpu", subject.gpu);
  json.end_object();
}

// Said of a cause that leaves much unexplained; else empty.
std::string part_explained(double coverage) {
  constexpr double kMost = 0.8;
  if (coverage >= kMost) return {};
  char part[64];
  std::snprintf(part, sizeof part, " That explains %.0f %% of the lost time.", 100 * coverage);
  return part;
}

std::string explanation_of(const Cause& cause) {
  if (cause.explanation.empty()) return {};
  return cause.explanation + part_explained(cause.coverage);
}

void write_cause(JsonWriter& json, const Cause& cause) {
  json.key("cause").begin_object().field("name", to_string(cause.name));
  if (cause.name == CauseName::unattributed) {
    json.key("missing").begin_array();
    for (const std::string& input : cause.missing) json.value(input);
    json.end_array();
  } else {
    json.field("coverage", cause.coverage).field("explanation", explanation_of(cause));
  }
  json.end_object();
}

using simdjson::dom::element;

std::int64_t whole_at(const element& object, const char* name, std::int64_t none) {
  std::int64_t number = none;
  return object[name].get_int64().get(number) == simdjson::SUCCESS ? number : none;
}

double number_at(const element& object, const char* name) {
  double number = 0;
  return object[name].get_double().get(number) == simdjson::SUCCESS ? number : std::nan("");
}

// The enumerator with this name, or `last` if none has it.
template <class Enum>
Enum named(const std::string& name, Enum last) {
  for (auto value = Enum{}; value < last; value = static_cast<Enum>(static_cast<int>(value) + 1)) {
    if (to_string(value) == name) return value;
  }
  return last;
}

void read_subject(const element& from, Alert& alert) {
  alert.subject = {text_member(from, "job"), text_member(from, "node"),
                   static_cast<std::int32_t>(whole_at(from, "rank", kNoRank)),
                   text_member(from, "gpu"), whole_at(from, "process", kNoProcess)};
  alert.attempt = static_cast<std::uint32_t>(whole_at(from, "attempt", 0));
  alert.ranks = text_member(from, "ranks");
}

Cause cause_from(const element& from) {
  Cause cause;
  cause.name = named(text_member(from, "name"), CauseName::recompilation);
  if (simdjson::dom::array missing; from["missing"].get_array().get(missing) == simdjson::SUCCESS) {
    for (const element input : missing) {
      if (std::string_view name; input.get_string().get(name) == simdjson::SUCCESS)
        cause.missing.emplace_back(name);
    }
    return cause;
  }
  cause.coverage = number_at(from, "coverage");
  cause.explanation = text_member(from, "explanation");
  const std::string part = part_explained(cause.coverage);
  if (cause.explanation.ends_with(part))
    cause.explanation.resize(cause.explanation.size() - part.size());
  return cause;
}

// As it is written. A string cannot have the key in it, as it would have its quotes escaped.
std::string evidence_in(std::string_view json) {
  constexpr std::string_view kBegin = R"(,"evidence":)";
  constexpr std::string_view kEnd = R"(,"next":)";
  const std::size_t begin = json.find(kBegin);
  const std::size_t end = json.rfind(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return std::string(json.substr(begin + kBegin.size(), end - begin - kBegin.size()));
}

}  // namespace

void write_time(JsonWriter& json, std::string_view name, Time time) {
  json.key(name);
  time == kNoTime ? json.null() : json.value(to_rfc3339(time));
}

std::string alert_id(const RuleSpec& rule, const Subject& subject, std::string_view key, Time at) {
  std::string text = "tw1";
  const auto add = [&text](std::string_view part) {
    text += '\0';
    text += part;
  };
  add(rule.id);
  add(std::to_string(rule.version));
  add(subject.job);
  add(subject.node);
  add(std::to_string(subject.rank));
  add(subject.gpu);
  if (subject.process != kNoProcess) add("process " + std::to_string(subject.process));
  add(key);
  add(std::to_string(to_ns(at)));
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return hex;
}

std::string to_json(const Alert& alert) {
  const Verdict& verdict = alert.verdict;
  JsonWriter json;
  json.begin_object().field("id", alert.id);
  json.field("state", alert.state == Alert::State::firing ? "firing" : "resolved")
      .field("rule", alert.rule)
      .field("severity", to_string(alert.severity));
  write_time(json, "started_at", alert.started_at);
  write_time(json, "updated_at", alert.updated_at);
  write_time(json, "ended_at", alert.ended_at);
  if (alert.state == Alert::State::resolved) {
    json.field("ended_because", to_string(alert.ended_because));
  } else {
    json.key("ended_because").null();
  }
  write_subject(json, alert);
  json.field("incident", alert.incident.empty() ? alert.id : alert.incident);
  json.field("count", alert.count);
  json.key("step");
  verdict.step == kNoStep ? json.null() : json.value(verdict.step);
  json.field("value", verdict.value)
      .field("threshold", verdict.threshold)
      .field("baseline", verdict.baseline)
      .field("unit", verdict.unit)
      .field("lost_seconds", verdict.lost_seconds)
      .field("summary", verdict.summary);
  write_cause(json, verdict.cause);
  json.key("evidence").raw(verdict.evidence.empty() ? "{}" : verdict.evidence);
  const bool self = alert.rule.starts_with("_self/");
  json.field("next", verdict.next);
  json.field("runbook", self ? "/docs/self-alerts" : "/docs/rules/" + alert.rule);
  return json.end_object().take();
}

std::optional<Alert> alert_from_json(std::string_view json) {
  simdjson::dom::parser parser;
  element from;
  if (parser.parse(json.data(), json.size()).get(from) != simdjson::SUCCESS) return std::nullopt;
  Alert alert;
  alert.id = text_member(from, "id");
  if (alert.id.empty()) return std::nullopt;
  const bool fires = text_member(from, "state") == "firing";
  alert.state = fires ? Alert::State::firing : Alert::State::resolved;
  alert.rule = text_member(from, "rule");
  alert.severity = alert.reached = named(text_member(from, "severity"), Severity::critical);
  alert.started_at = time_member(from, "started_at");
  alert.updated_at = time_member(from, "updated_at");
  alert.ended_at = time_member(from, "ended_at");
  alert.ended_because = named(text_member(from, "ended_because"), EndedBecause::reconfigured);
  if (element subject; from["subject"].get(subject) == simdjson::SUCCESS)
    read_subject(subject, alert);
  alert.incident = text_member(from, "incident");
  alert.count = static_cast<std::uint64_t>(whole_at(from, "count", 1));
  Verdict& verdict = alert.verdict;
  verdict.step = whole_at(from, "step", kNoStep);
  verdict.value = number_at(from, "value");
  verdict.threshold = number_at(from, "threshold");
  verdict.baseline = number_at(from, "baseline");
  verdict.unit = text_member(from, "unit");
  verdict.lost_seconds = number_at(from, "lost_seconds");
  verdict.summary = text_member(from, "summary");
  if (element cause; from["cause"].get(cause) == simdjson::SUCCESS)
    verdict.cause = cause_from(cause);
  verdict.evidence = evidence_in(json);
  verdict.next = text_member(from, "next");
  return alert;
}

PublishedAlert published(const Alert& alert, std::string json, std::string_view epoch) {
  if (!epoch.empty()) {
    const std::size_t behind_id = json.find(kBehindId);
    assert(behind_id != std::string::npos);
    const std::string place =
        JsonWriter().begin_object().field("seq", alert.seq).field("epoch", epoch).take();
    json.insert(behind_id, ',' + place.substr(1));
  }
  json.shrink_to_fit();  // many are kept
  return {alert.seq,   alert.id,        alert.rule,     std::max(alert.severity, alert.reached),
          alert.state, std::move(json), alert.is_part()};
}

std::string content_hash(std::string_view json) {
  const XXH128_hash_t hash = XXH3_128bits(json.data(), json.size());
  return {reinterpret_cast<const char*>(&hash), sizeof hash};
}

}  // namespace trainwatch

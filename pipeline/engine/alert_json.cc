// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_json.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cstdio>

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

// Says so if it leaves much unexplained.
std::string explanation_of(const Cause& cause) {
  constexpr double kMost = 0.8;
  if (cause.coverage >= kMost || cause.explanation.empty()) return cause.explanation;
  char part[64];
  std::snprintf(part, sizeof part, " That explains %.0f %% of the lost time.",
                100 * cause.coverage);
  return cause.explanation + part;
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

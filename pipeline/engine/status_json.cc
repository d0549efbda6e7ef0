// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/self_alerts.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

// The problem of a source, in the words of the self-alerts.
constexpr std::size_t kShownFiles = 4096;

void write_conditions(JsonWriter& json, const std::string& source,
                      const std::vector<SelfCondition>& conditions) {
  json.key("conditions").begin_array();
  for (const SelfCondition& condition : conditions) {
    if (condition.source == source) json.value(condition.kind);
  }
  json.end_array();
}

void write_sources(JsonWriter& json, const Ingest& ingest, const SourceHealthTracker& tracker) {
  const std::vector<SelfCondition> conditions = conditions_of(tracker);
  json.key("sources").begin_array();
  for (const auto& [name, source] : ingest.sources()) {
    const auto found = tracker.sources().find(name);
    const SourceHealth health = found == tracker.sources().end() ? SourceHealth{} : found->second;
    json.begin_object().field("source", name).field("files", health.files);
    json.field("bytes", source.bytes).field("lag_bytes", health.lag_bytes);
    json.field("lag_seconds", health.lag_seconds).field("events", source.records);
    json.field("truncations", source.truncations).field("bytes_lost", source.bytes_lost);
    json.field("read_errors", source.read_errors).field("unreadable", health.unreadable_files);
    json.field("stuck", health.stuck_files).key("rejects").begin_object();
    for (std::size_t i = 0; i < source.rejects.size(); ++i) {
      if (source.rejects[i] == 0) continue;
      json.field(to_string(static_cast<RejectReason>(i)), source.rejects[i]);
    }
    json.end_object();
    write_conditions(json, name, conditions);
    json.end_object();
  }
  json.end_array();
}

// For a profiler file that is still being written.
void write_provisional(JsonWriter& json, const Ingest::File& file) {
  const auto found = file.decoder != nullptr ? file.decoder->provisional() : std::nullopt;
  if (!found) return;
  json.key("provisional").begin_object().field("steps_seen", found->steps_seen);
  json.field("gpu_rows", found->device_rows).key("steps").begin_array();
  for (const StepRow& step : found->steps) {
    json.begin_object().field("step", step.number);
    json.field("seconds", static_cast<double>(step.duration_ns) / 1e9);
    json.field("data_wait_seconds", static_cast<double>(step.data_wait_ns) / 1e9).end_object();
  }
  json.end_array().end_object();
}

void write_files(JsonWriter& json, const SourceHealthTracker& tracker, std::string_view shown) {
  std::size_t files = 0;
  for (const auto& [name, health] : tracker.sources()) files += health.files;
  json.key("files").raw(shown).field("files_left_out", files - std::min(files, kShownFiles));
}

void write_skipped(JsonWriter& json, const SkippedPaths& skipped) {
  json.key("skipped").begin_object();
  for (std::size_t i = 0; i < static_cast<std::size_t>(SkipReason::count_); ++i) {
    const auto reason = static_cast<SkipReason>(i);
    json.field(to_string(reason), skipped.count(reason));
  }
  json.key("first").begin_array();
  for (const SkippedPaths::Skipped& each : skipped.first()) {
    json.begin_object().field("path", each.path);
    json.field("reason", to_string(each.reason));
    if (!each.of.empty()) json.field("of", each.of);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_rules(JsonWriter& json, const Engine& engine) {
  json.key("rules").begin_array();
  const auto& rules = engine.rules();
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    json.begin_object().field("rule", rules[rule].spec->id);
    json.field("instances", engine.host().instances(rule));
    json.field("warming", engine.host().warming(rule)).field("firing", engine.book().firing(rule));
    const auto missing = engine.host().missing(rule);
    json.field("abstaining", engine.host().abstaining(rule));
    if (!missing.empty()) json.field("abstention", "INCOMPLETE_DATA");
    json.key("missing").begin_array();
    for (const std::string_view input : missing) json.value(input);
    json.end_array();
    json.key("params").begin_object();
    for (const Param& param : rules[rule].spec->params) {
      json.key(param.name).raw(param.print_json(rules[rule].params));
    }
    json.end_object().end_object();
  }
  json.end_array();
}

void write_rejected(JsonWriter& json, const Ingest& ingest) {
  json.key("rejected_samples").begin_array();
  for (const RejectedSample& rejected : ingest.rejected()) {
    json.begin_object().field("path", rejected.path);
    json.field("reason", to_string(rejected.reason)).field("sample", rejected.text).end_object();
  }
  json.end_array();
}

}  // namespace

std::string files_json(const Ingest& ingest, const TailReport& tail) {
  std::size_t files = 0;
  JsonWriter json;
  json.begin_array();
  for (const TailedFile& tailed : tail.files) {
    if (files == kShownFiles) break;
    const auto known = ingest.files().find(tailed.file);
    if (known == ingest.files().end()) continue;
    ++files;
    const Ingest::File& file = known->second;
    json.begin_object().field("path", file.known.path).field("format", file.format);
    if (const std::string_view declared = file.decoder != nullptr ? file.decoder->declared() : "";
        !declared.empty()) {
      json.field("declared", declared);
    }
    json.field("size", tailed.size).field("offset", tailed.offset);
    json.field("records", file.records).field("rejects", file.rejects);
    json.field("error", tailed.error.empty() ? file.error : tailed.error);
    write_provisional(json, file);
    json.end_object();
  }
  return json.end_array().take();
}

std::string status_json(const StatusHeader& header, const Engine& engine, const Ingest& ingest,
                        const TailReport& tail, const SourceHealthTracker& tracker,
                        std::string_view files) {
  JsonWriter json;
  json.begin_object().field("version", header.version).field("ready", header.ready);
  json.field("started_at", to_rfc3339(header.started_at));
  write_time(json, "latest_event_at", engine.latest());
  json.field("lag_seconds", tail.lag_seconds);
  json.field("watch_degraded", tail.watch_degraded);
  json.key("missing_roots").begin_array();
  for (const std::string& root : tail.missing_roots) json.value(root);
  json.end_array();
  json.field("state_degraded", header.storing);
  json.field("sandbox", header.sandbox);
  write_sources(json, ingest, tracker);
  write_files(json, tracker, files);
  write_skipped(json, tail.skipped);
  write_rules(json, engine);
  if (header.rejected_samples) write_rejected(json, ingest);
  json.key("limits").begin_object();
  json.field("files_dropped", tail.files_dropped);
  json.field("subjects_dropped", engine.interner().subjects.dropped());
  json.field("symbols_dropped", engine.interner().symbols.dropped());
  json.field("series_dropped", engine.series_dropped());
  json.field("gpu_ranks_dropped", engine.gpu_metrics().ranks_dropped());
  json.key("analyses_stopped").begin_array();
  for (const std::string& name : engine.analyses().stopped()) json.value(name);
  json.end_array();
  return json.end_object().end_object().take();
}

}  // namespace trainwatch

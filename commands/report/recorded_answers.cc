// SPDX-License-Identifier: Apache-2.0
#include "commands/report/recorded_answers.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "pipeline/analysis/history/history_json.h"
#include "pipeline/analysis/history/scalar_json.h"
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/life_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kStepColumns = 1000;
constexpr std::size_t kMapColumns = JobHistory::kMapColumns;
constexpr std::size_t kScalarPoints = 256;  // of each of up to 64 curves, 40 bytes each

// Results that the page draws; the tables of the report have the others.
constexpr std::string_view kDrawnAnalyses[] = {"temporal_breakdown", "idle_time_breakdown",
                                               "comm_comp_overlap", "dataloader_workers",
                                               "batchtime"};

const JobHistory* history_of(const Engine& engine, const std::string& name) {
  for (const auto& [job, history] : engine.history().jobs()) {
    if (engine.interner().subjects[job].job == name) return &history;
  }
  return nullptr;
}

// The account over time, and for the comparison of attempts the iterations of each.
void record_attempts(JsonWriter& json, const RecordedJob& recorded, const JobHistory& history,
                     ChartRange steps, const ChartRange& map) {
  const Ledger& ledger = recorded.engine.ledger();
  for (const auto& [job, run] : ledger.runs()) {
    if (recorded.engine.interner().subjects[job].job != recorded.job) continue;
    const Life life = ledger.life(job);
    json.key("/api/v1/heatmap?what=wall_time").raw(wall_time_json(recorded.job, run, life, map));
    if (life.attempts.size() < 2) continue;
    for (const AttemptInfo& attempt : life.attempts) {
      steps.attempt = attempt.number;
      json.key("/api/v1/steps?attempt=" + std::to_string(attempt.number))
          .raw(steps_json(recorded.job, history, steps));
    }
  }
}

void record_charts(JsonWriter& json, const RecordedJob& recorded) {
  const JobHistory* const job = history_of(recorded.engine, recorded.job);
  if (job == nullptr) return;
  const Interner& interner = recorded.engine.interner();
  ChartRange steps;
  steps.columns = kStepColumns;
  ChartRange maps;
  maps.columns = kMapColumns;
  json.key("/api/v1/steps").raw(steps_json(recorded.job, *job, steps));
  json.key("/api/v1/heatmap?what=ranks").raw(rank_map_json(recorded.job, *job, interner, maps));
  record_attempts(json, recorded, *job, steps, maps);
  json.key("/api/v1/heatmap?what=utilization")
      .raw(usage_map_json(recorded.job, *job, interner, maps));
  json.key("/api/v1/histogram?what=steps").raw(step_histogram_json(recorded.job, *job, steps));
  json.key("/api/v1/histogram?what=utilization").raw(usage_histogram_json(recorded.job, *job));
  json.key("/api/v1/scalars")
      .raw(scalars_json(recorded.job, job->scalars(), interner, {.points = kScalarPoints}));
}

std::vector<const Alert*> most_important(const std::vector<Alert>& alerts) {
  std::vector<const Alert*> sorted;
  sorted.reserve(alerts.size());
  for (const Alert& alert : alerts) sorted.push_back(&alert);
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const Alert* alert) {
    return std::tuple(alert->severity, alert->verdict.lost_seconds);
  });
  sorted.resize(std::min(sorted.size(), kMostRecordedAlerts));
  return sorted;
}

// `state`: only alerts in it.
void record_alerts(JsonWriter& json, std::string_view path, const std::vector<const Alert*>& alerts,
                   std::optional<Alert::State> state) {
  json.key(path).begin_object().field("epoch", "").field("first_seq", 0).field("last_seq", 0);
  json.key("alerts").begin_array();
  for (const Alert* alert : alerts) {
    if (!state || alert->state == *state) json.raw(to_json(*alert));
  }
  json.end_array().end_object();
}

void record_analyses(JsonWriter& json, const Figures& results) {
  for (const std::string_view name : kDrawnAnalyses) {
    const Figures::Value* const value = results.find(name);
    const auto* group = value != nullptr ? std::get_if<std::unique_ptr<Figures>>(value) : nullptr;
    if (group == nullptr) continue;
    json.key(std::string("/api/v1/analyses/").append(name)).raw((*group)->json());
  }
}

// Every file has been read to its end.
TailReport read_files(const Ingest& ingest) {
  TailReport report;
  for (const auto& [id, file] : ingest.files()) {
    TailedFile read;
    read.file = id;
    read.path = file.known.path;
    read.size = read.offset = file.bytes;
    report.files.push_back(std::move(read));
  }
  return report;
}

}  // namespace

std::string recorded_answers(const RecordedJob& recorded, const std::string& version) {
  JsonWriter json;
  json.begin_object();
  json.key("/api/v1/runs").raw(runs_json(recorded.engine, recorded.engine.latest(), {}));
  StatusHeader header;
  header.version = version;
  header.ready = true;
  const TailReport files = read_files(recorded.ingest);
  SourceHealthTracker health;
  health.look(recorded.engine.latest(), recorded.ingest, files);
  json.key("/api/v1/status")
      .raw(status_json(header, recorded.engine, recorded.ingest, files, health,
                       files_json(recorded.ingest, files)));
  const std::vector<const Alert*> alerts = most_important(recorded.alerts);
  record_alerts(json, "/api/v1/alerts?state=firing", alerts, Alert::State::firing);
  record_alerts(json, "/api/v1/alerts", alerts, std::nullopt);
  record_charts(json, recorded);
  record_analyses(json, recorded.results);
  return json.end_object().take();
}

}  // namespace trainwatch

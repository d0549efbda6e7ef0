// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/run_headlines.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

void write_step(JsonWriter& json, std::string_view name, std::int64_t step) {
  json.key(name);
  step == kNoStep ? json.null() : json.value(step);
}

void write_headline(JsonWriter& json, const Headline& headline) {
  json.key("headline").begin_object().field("text", headline.text);
  write_time(json, "since", headline.since);
  json.end_object();
}

void write_attempts(JsonWriter& json, const Runs::Run& run) {
  json.key("attempts").begin_array();
  for (const Runs::Attempt& attempt : run.attempts) {
    json.begin_object().field("attempt", attempt.number);
    write_time(json, "begin", attempt.begin);
    write_time(json, "end", attempt.end);
    write_step(json, "first_step", attempt.first_step);
    write_step(json, "last_step", attempt.last_step);
    json.end_object();
  }
  json.end_array();
}

void write_lost(JsonWriter& json, const LostTime::Account& mean) {
  json.field("elapsed_seconds", mean.elapsed);
  json.key("lost_seconds").begin_object();
  for (std::size_t i = 0; i < mean.lost.size(); ++i) {
    if (mean.lost[i] > 0) json.field(to_string(static_cast<CauseName>(i)), mean.lost[i]);
  }
  json.end_object();
  json.field("lost_share", mean.elapsed > 0 ? mean.total() / mean.elapsed : 0.0);
}

void write_run(JsonWriter& json, std::string_view job, const Runs::Run& run, const RunView& view,
               const Headline& headline) {
  json.begin_object().field("job", job);
  json.field("state", to_string(run.state));
  write_headline(json, headline);
  write_time(json, "since", run.since);
  json.field("attempt", view.attempt);
  write_step(json, "step", view.step);
  json.field("seconds_per_step", view.seconds_per_step);
  json.field("steps_per_second", view.seconds_per_step > 0 ? 1 / view.seconds_per_step : 0.0);
  write_time(json, "begin", view.begin);
  write_time(json, "last_step_at", view.last_end);
  json.key("ended_because");
  run.end ? json.value(to_string(run.end->why)) : json.null();
  json.field("ranks", rank_ranges(view.ranks()));
  write_lost(json, view.lost);
  write_attempts(json, run);
  json.end_object();
}

}  // namespace

std::string runs_json(const Engine& engine, const LostTime::Outstanding& loss, Time now,
                      std::string_view monitor) {
  const std::map<SubjectId, Headline> headlines = run_headlines(engine, loss);
  JsonWriter json;
  json.begin_object();
  write_time(json, "now", now);
  json.field("monitor", monitor).key("runs").begin_array();
  for (const auto& [job, run] : engine.runs().all()) {
    write_run(json, engine.interner().subjects[job].job, run, view_of(engine, run, loss),
              headlines.at(job));
  }
  return json.end_array().end_object().take();
}

}  // namespace trainwatch

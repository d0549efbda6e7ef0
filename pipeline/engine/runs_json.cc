// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/life_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/run_headlines.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

// What older pages read: the account of what is lost, by cause.
void write_lost(JsonWriter& json, const Life& life) {
  json.field("elapsed_seconds", life.wall);
  json.key("lost_seconds").begin_object();
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    if (is_lost(part) && life.parts[part] > 0) json.field(to_string(part), life.parts[part]);
  }
  json.end_object();
  json.field("lost_share", life.wall > 0 ? life.lost() / life.wall : 0.0);
}

void write_run(JsonWriter& json, std::string_view job, const RunView& view,
               const Headline& headline) {
  const Life& life = view.life;
  json.begin_object().field("job", job);
  json.key("run");
  view.id.empty() ? json.null() : json.value(view.id);
  json.field("state", to_string(life.state));
  json.key("headline").begin_object().field("text", headline.text);
  write_time(json, "since", headline.since);
  json.end_object();
  write_time(json, "since", life.since);
  json.field("attempt", view.attempt).key("step");
  life.step == kNoStep ? json.null() : json.value(life.step);
  json.field("seconds_per_step", view.seconds_per_step);
  json.field("steps_per_second", life.steps_per_second);
  write_time(json, "begin", life.began_at);
  write_time(json, "last_step_at", life.last_step_at);
  json.field("ranks", rank_ranges(view.ranks()));
  write_lost(json, life);
  write_life(json, life);
  json.end_object();
}

// Calls `write` with the name, the view and the headline of each run.
template <class Write>
void each_run(const Engine& engine, Write&& write) {
  for (const auto& [job, shown] : shown_runs(engine))
    write(engine.interner().subjects[job].job, shown.view, shown.headline);
}

}  // namespace

std::string runs_json(const Engine& engine, Time now, std::string_view monitor) {
  JsonWriter json;
  json.begin_object();
  write_time(json, "now", now);
  json.field("monitor", monitor).key("runs").begin_array();
  each_run(engine, [&json](std::string_view job, const RunView& view, const Headline& headline) {
    write_run(json, job, view, headline);
  });
  return json.end_array().end_object().take();
}

std::string runs_lines(const Engine& engine) {
  std::string lines;
  each_run(engine, [&lines](std::string_view job, const RunView& view, const Headline& headline) {
    JsonWriter json;
    write_run(json, job, view, headline);
    lines += json.take() + '\n';
  });
  return lines;
}

}  // namespace trainwatch

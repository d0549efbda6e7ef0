#include <set>
#include <vector>

#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

// Of a run: means over its ranks, as they train together.
LostTime::Account mean_of(const LostTime& accounts, const Runs::Run& run) {
  std::vector<const LostTime::Account*> known;
  for (const auto& [subject, rank] : run.ranks) {
    if (const LostTime::Account* const one = accounts.account(subject)) known.push_back(one);
  }
  LostTime::Account mean;
  for (const LostTime::Account* const one : known) {
    const auto ranks = static_cast<double>(known.size());
    mean.elapsed += one->elapsed / ranks;
    for (std::size_t i = 0; i < mean.lost.size(); ++i) mean.lost[i] += one->lost[i] / ranks;
  }
  return mean;
}

void write_step(JsonWriter& json, std::string_view name, std::int64_t step) {
  json.key(name);
  step == kNoStep ? json.null() : json.value(step);
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

void write_run(JsonWriter& json, const Engine& engine, SubjectId job, const Runs::Run& run) {
  const Runs::Attempt& latest = run.attempts.back();
  std::set<std::int32_t> ranks;
  double slowest = 0;  // the pace of all, as ranks wait for each other
  for (const auto& [subject, rank] : run.ranks) {
    const std::int32_t number = engine.interner().subjects[subject].rank;
    if (number != kNoRank) ranks.insert(number);
    slowest = std::max(slowest, rank.seconds_per_step);
  }
  json.begin_object().field("job", engine.interner().subjects[job].job);
  json.field("state", to_string(run.state));
  write_time(json, "since", run.since);
  json.field("attempt", latest.number);
  write_step(json, "step", latest.last_step);
  json.field("seconds_per_step", slowest);
  json.field("steps_per_second", slowest > 0 ? 1 / slowest : 0.0);
  write_time(json, "begin", run.attempts.front().begin);
  write_time(json, "last_step_at", run.last_end());
  json.key("ended_because");
  run.end ? json.value(to_string(run.end->why)) : json.null();
  json.field("ranks", rank_ranges(ranks));
  write_lost(json, mean_of(engine.lost_time(), run));
  write_attempts(json, run);
  json.end_object();
}

}  // namespace

std::string runs_json(const Engine& engine) {
  JsonWriter json;
  json.begin_object().key("runs").begin_array();
  for (const auto& [job, run] : engine.runs().all()) write_run(json, engine, job, run);
  return json.end_array().end_object().take();
}

}  // namespace trainwatch

#include <array>
#include <set>

#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch {
namespace {

// Of a run: means over its ranks, as they train together.
struct Mean {
  double elapsed = 0;
  std::array<double, LostTime::kCauses> lost{};

  Mean(const LostTime& accounts, const Runs::Run& run) {
    double ranks = 0;
    for (const auto& [subject, rank] : run.ranks) {
      const LostTime::Account* const account = accounts.account(subject);
      if (account == nullptr) continue;
      ++ranks;
      elapsed += account->elapsed;
      for (std::size_t i = 0; i < lost.size(); ++i) lost[i] += account->lost[i];
    }
    if (ranks == 0) return;
    elapsed /= ranks;
    for (double& seconds : lost) seconds /= ranks;
  }
  double total() const {
    double sum = 0;
    for (const double seconds : lost) sum += seconds;
    return sum;
  }
};

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

void write_lost(JsonWriter& json, const Mean& mean) {
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
  write_lost(json, Mean(engine.lost_time(), run));
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

// SPDX-License-Identifier: Apache-2.0
// Host or GPU memory that grows steadily and will be full within hours; see
// docs/rules/memory_creep.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rules/format.h"
#include "rules/memory_trend.h"
#include "rules/time_slices.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::memory_creep {
namespace {

constexpr double kFull = 100;           // percent
constexpr double kNearlyFull = 95;      // percent; an open alert stays open above it
constexpr double kForesight = 6;        // times as far as the rise was seen
constexpr double kRestart = 0.25;       // of the highest level; below, another process began
constexpr double kStaysCritical = 1.5;  // times critical_minutes
constexpr double kChange = 1.5;         // factor of the time to full that is worth an update
constexpr double kFall = 5;             // percent points that are no noise
constexpr double kLeastRate = 1e-6;     // percent points per hour
constexpr Nanos kRecovery = std::chrono::minutes(5);
constexpr Nanos kGap = std::chrono::minutes(10);  // between samples; the past is void

struct Params {
  double hours = 12;
  double critical_minutes = 30;
  double warmup_seconds = 180;
};

// What one kind of memory of the subject does.
class Level {
 public:
  struct Forecast {
    MemoryTrend::Rise rise;
    double hours = 0;  // to full
  };

  // True if there is something new to judge.
  bool push(const Sample& sample, Nanos warmup);
  // The nearest time at which memory is full, of the trends that reach as far.
  std::optional<Forecast> forecast() const;
  bool restarted() const { return restarted_; }
  bool enough() const { return trends_.front().enough(); }
  double latest() const { return latest_; }
  void state(StateIo& io);

  ClearTime clear;
  bool critical = false;
  Time since = kNoTime;  // it had begun to grow when the alert opened

 private:
  void begin(Time at);

  // Short ones see quick leaks, long ones slow ones.
  std::array<MemoryTrend, 4> trends_{
      MemoryTrend{std::chrono::seconds(3)}, MemoryTrend{std::chrono::seconds(10)},
      MemoryTrend{std::chrono::seconds(30)}, MemoryTrend{std::chrono::seconds(120)}};
  Time began_ = kNoTime;
  Time last_ = kNoTime;
  double latest_ = 0;
  double highest_ = 0;  // level of a stretch
  double before_ = 0;   // the highest level before the latest fall
  bool restarted_ = false;
};

void Level::begin(Time at) {
  for (MemoryTrend& trend : trends_) trend.clear();
  began_ = at;
  highest_ = before_ = 0;
}

bool Level::push(const Sample& sample, Nanos warmup) {
  restarted_ = sample.value < kRestart * highest_;
  if (began_ == kNoTime || restarted_ || sample.at - last_ > kGap) begin(sample.at);
  last_ = std::max(last_, sample.at);
  latest_ = sample.value;
  if (sample.at - began_ < warmup) return restarted_;
  bool complete = false;
  for (MemoryTrend& trend : trends_) complete = trend.push(sample.at, sample.value) || complete;
  if (const auto level = trends_.front().level()) {
    if (*level < highest_ - kFall) before_ = std::max(before_, highest_);
    highest_ = std::max(highest_, *level);
  }
  return complete || restarted_;
}

std::optional<Level::Forecast> Level::forecast() const {
  std::optional<Forecast> nearest;
  for (const MemoryTrend& trend : trends_) {
    const auto& rise = trend.rise();
    // A level that was there before and fell again is no creep: a garbage collector's, or a
    // cache's.
    if (!rise || rise->level <= before_ || rise->per_hour < kLeastRate) continue;
    const double hours = (kFull - std::min(rise->level, kFull)) / rise->per_hour;
    if (hours * 3600 > kForesight * to_seconds(rise->span)) continue;
    if (!nearest || hours < nearest->hours) nearest = Forecast{*rise, hours};
  }
  return nearest;
}

void Level::state(StateIo& io) {
  for (MemoryTrend& trend : trends_) io(trend);
  io(clear);
  io(critical);
  io(since);
  io(began_);
  io(last_);
  io(latest_);
  io(highest_);
  io(before_);
  io(restarted_);
  const auto fits = [](double value) { return std::fabs(value) <= MemoryTrend::kLargest; };
  if (!is_possible(since) || !is_possible(began_) || !is_possible(last_) ||
      (began_ == kNoTime) != (last_ == kNoTime) || !fits(latest_) || !fits(highest_) ||
      !fits(before_)) {
    io.fail();
  }
}

class MemoryCreep final : public Rule {
 public:
  MemoryCreep(const Params& params, const RuleContext&) : params_(params) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (!(std::fabs(sample.value) <= MemoryTrend::kLargest)) return;
    const bool limited = sample.resource == Resource::cgroup_memory_used;
    Level& level = limited ? limited_ : memory_;
    if (level.push(sample, from_seconds(params_.warmup_seconds))) judge(sample, level, out);
  }

  void state(StateIo& io) override {
    io(memory_);
    io(limited_);
  }
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::factor, .min_change = kChange};
  }
  bool warming() const override { return !memory_.enough() && !limited_.enough(); }

 private:
  static std::string_view key_of(const Sample& sample) {
    return sample.resource == Resource::cgroup_memory_used ? "cgroup" : "";
  }
  static std::string_view name_of(const Sample& sample) {
    if (sample.resource == Resource::gpu_memory_utilization) return "GPU memory";
    return sample.resource == Resource::cgroup_memory_used ? "Memory of the container"
                                                           : "Host memory";
  }

  void judge(const Sample& sample, Level& level, Verdicts& out) const;
  Verdict describe(const Sample& sample, Time since, const Level::Forecast& forecast) const;

  Params params_;
  Level memory_;   // of the host or of the GPU
  Level limited_;  // of the container, against its limit
};

void MemoryCreep::judge(const Sample& sample, Level& level, Verdicts& out) const {
  const std::string_view key = key_of(sample);
  if (level.restarted()) {
    level.critical = false;
    return out.clear(key, sample.at);
  }
  const auto forecast = level.forecast();
  if (forecast && forecast->hours <= params_.hours) {
    level.clear.reset();
    const double minutes = params_.critical_minutes * (level.critical ? kStaysCritical : 1);
    level.critical = forecast->hours * 60 < minutes;
    if (out.firings(key) == 0) level.since = sample.at - forecast->rise.span;
    return out.fires({.key = key,
                      .at = sample.at,
                      .severity = level.critical ? Severity::critical : Severity::warning,
                      .figure = forecast->hours},
                     [&] { return describe(sample, level.since, *forecast); });
  }
  if (out.firings(key) > 0 && level.latest() >= kNearlyFull) return out.holds(key);
  if (!level.clear.elapsed(sample.at, kRecovery)) return;
  level.critical = false;
  out.clear(key, sample.at);
}

Verdict MemoryCreep::describe(const Sample& sample, Time since,
                              const Level::Forecast& forecast) const {
  const MemoryTrend::Rise& rise = forecast.rise;
  const bool gpu = sample.resource == Resource::gpu_memory_utilization;
  const std::string what(name_of(sample));
  const bool soon = forecast.hours < 2;
  const std::string full = soon ? format::figure(forecast.hours * 60) + " minutes"
                                : format::figure(forecast.hours) + " hours";
  const double minutes = to_seconds(rise.span) / 60;
  Verdict verdict;
  verdict.since = since;
  verdict.value = forecast.hours;
  verdict.threshold = params_.hours;
  verdict.unit = "hours";
  verdict.summary = what + " will be full in " + full + ": it grew steadily from " +
                    format::percent(rise.from) + " to " + format::percent(rise.level) +
                    " in the last " + format::figure(minutes) + " minutes.";
  verdict.cause.name = CauseName::memory_creep;
  verdict.cause.coverage = 1;
  verdict.cause.explanation =
      what + " grows by " + format::figure(rise.per_hour) + " points per hour.";
  verdict.evidence = JsonWriter{}
                         .begin_object()
                         .field("memory", gpu                      ? "gpu"
                                          : key_of(sample).empty() ? "host"
                                                                   : "cgroup")
                         .field("hours_to_full", forecast.hours)
                         .field("points_per_hour", rise.per_hour)
                         .field("from_percent", rise.from)
                         .field("level_percent", rise.level)
                         .field("seen_seconds", to_seconds(rise.span))
                         .field("since", to_rfc3339(since))
                         .end_object()
                         .take();
  verdict.next =
      gpu ? "Look for tensors kept from step to step: losses summed without .item(), outputs in a "
            "list, graphs retained; torch.cuda.memory_snapshot() shows who allocated them."
          : "Look for what the training process or its loader workers keep from step to step: "
            "caches in the dataset, growing lists, logged tensors. Save a checkpoint before it is "
            "full.";
  return verdict;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<MemoryCreep, Params>(
      {.id = "memory_creep",
       .version = 2,
       .scope = Scope::gpu,
       .summary = "Host or GPU memory grows steadily and will be full within hours.",
       .doc = "A robust trend (Theil and Sen) through the lowest levels of 60 stretches of 3, 10, "
              "30 and 120 s of a node's or a GPU's memory. It must rise from quarter to quarter of "
              "what was seen, at the end as much as at the beginning, and above every level that "
              "was left again. It is extended to at most six times the time seen.",
       .samples = {Resource::memory_used, Resource::gpu_memory_utilization,
                   Resource::cgroup_memory_used},
       .incident = {.slack = std::chrono::minutes(10)}},
      {field("hours", &Params::hours, 0, 1000,
             "Memory that will be full within this many hours is a warning."),
       field("critical_minutes", &Params::critical_minutes, 0, 100000,
             "Memory that will be full within this many minutes is critical."),
       field("warmup_seconds", &Params::warmup_seconds, 0, 86400,
             "Seconds from the first sample that are not looked at: allocators fill up.")});
  return spec;
}

}  // namespace trainwatch::memory_creep

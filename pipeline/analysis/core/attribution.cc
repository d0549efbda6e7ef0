// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/attribution.h"

#include <algorithm>
#include <cstdio>

namespace trainwatch {
namespace {

constexpr double kSaturatedCore = 90.0;  // percent; SageMaker's cpu_threshold
constexpr double kHeavyIoWait = 50.0;    // percent; SageMaker's io_threshold
constexpr double kRise = 10.0;           // percentage points above the minute before
constexpr double kBusyHost = 80.0;       // percent of all cores
constexpr double kHeldUp = 50.0;         // percent of the interval: waits for CPU or disk
constexpr double kShortMemory = 25.0;    // the same for memory, which nobody waits for normally
constexpr double kThrottled = 50.0;      // percent of the interval
constexpr double kRarely = 10.0;         // percent of the minute before
constexpr double kOutside = 0.8;         // of the lost time, to blame what lies outside the phases
constexpr auto kBefore = std::chrono::seconds(60);

std::string number(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

double lost_seconds(const Verdict& verdict) {
  const double window = to_seconds(verdict.window_end - verdict.window_start);
  return verdict.window_lost_seconds > 0 ? std::min(verdict.window_lost_seconds, window) : window;
}

// Far up in the interval, and well above what it was in the minute before: a job that keeps its
// cores busy all the time was not slowed by that.
bool rose(const std::optional<double>& now, const std::optional<double>& before, double limit) {
  return now && *now > limit && (!before || *now - *before >= kRise);
}

// Whether all cores are busy.
bool is_full(const SystemUsage& usage) {
  return usage.cpu && *usage.cpu >= kBusyHost && *usage.busiest_core > kSaturatedCore;
}

// Whether no core is free, or the container has used up its CPU quota, and this was not so before.
bool is_held_back(const SystemUsage& usage, const SystemUsage& before) {
  const auto held = [](const SystemUsage& now) {
    return is_full(now) || (now.quota_used && *now.quota_used > kHeldUp);
  };
  return held(usage) && !held(before);
}

// What the kernel says of tasks that could not run, and of the container's limits.
std::optional<Cause> from_pressure(const SystemUsage& usage, const SystemUsage& before) {
  struct Kind {
    std::optional<double> SystemUsage::*figure;
    double limit;
    CauseName cause;
    std::string_view what;
  };
  static constexpr Kind kKinds[] = {
      {&SystemUsage::io_pressure, kHeldUp, CauseName::io_wait, "Tasks waited for disk I/O in "},
      {&SystemUsage::memory_pressure, kShortMemory, CauseName::host_pause,
       "Memory was short: tasks waited for it in "},
      {&SystemUsage::quota_used, kHeldUp, CauseName::cpu_saturation,
       "The container had used up its CPU quota in "},
      {&SystemUsage::cpu_pressure, kHeldUp, CauseName::cpu_saturation,
       "Tasks waited for a free CPU core in "}};
  for (const Kind& kind : kKinds) {
    const std::optional<double>& now = usage.*kind.figure;
    if (!rose(now, before.*kind.figure, kind.limit)) continue;
    const std::string share = number(*now, 0) + " % of the interval.";
    return Cause{kind.cause, *now / 100.0, std::string(kind.what) + share, {}};
  }
  return std::nullopt;
}

std::optional<Cause> from_system(const SystemUsage& usage, const SystemUsage& before) {
  if (rose(usage.io_wait, before.io_wait, kHeavyIoWait)) {
    return Cause{CauseName::io_wait,
                 *usage.io_wait / 100.0,
                 "A core waited " + number(*usage.io_wait, 0) +
                     " % of the interval for disk or network I/O.",
                 {}};
  }
  if ((is_full(usage) && !is_full(before)) ||
      rose(usage.busiest_core, before.busiest_core, kSaturatedCore)) {
    return Cause{CauseName::cpu_saturation,
                 *usage.busiest_core / 100.0,
                 "The busiest CPU core ran at " + number(*usage.busiest_core, 0) +
                     " % in the interval, all cores at " + number(*usage.cpu, 0) + " %.",
                 {}};
  }
  return from_pressure(usage, before);
}

// A power cap is usual under load; that it began with the interval is not.
std::optional<Cause> from_clocks(const SystemUsage& usage, const SystemUsage& before) {
  if (!usage.throttled || *usage.throttled < kThrottled) return std::nullopt;
  if (before.throttled && *before.throttled > kRarely) return std::nullopt;
  return Cause{
      CauseName::gpu_slowdown,
      *usage.throttled / 100.0,
      "The clock of a GPU was held back in " + number(*usage.throttled, 0) + " % of the interval.",
      {}};
}

struct SpanCause {
  CauseName name;
  std::string_view what;
};

SpanCause cause_of(SpanKind kind) {
  if (kind == SpanKind::checkpoint) return {CauseName::checkpoint, "Writing a checkpoint"};
  if (kind == SpanKind::data_init) return {CauseName::input_wait, "Starting the data loader"};
  if (kind == SpanKind::compilation) return {CauseName::recompilation, "torch.compile"};
  return {CauseName::garbage_collection, "Python's garbage collection"};
}

}  // namespace

std::optional<Cause> Attribution::from_span(const Verdict& verdict, SubjectId subject,
                                            SpanKind kind) const {
  const double took =
      to_seconds(spans_.overlap(subject, kind, verdict.window_start, verdict.window_end));
  const double covered = std::min(took / lost_seconds(verdict), 1.0);
  if (covered < kEnough) return std::nullopt;
  const SpanCause cause = cause_of(kind);
  return Cause{cause.name,
               covered,
               std::string(cause.what) + " took " + number(took, 3) + " s of the interval.",
               {}};
}

// Where the phases of a step are known and were not longer than usual, the host did something else.
// Writers that record only the forward pass leave the backward pass outside of all phases.
std::optional<Cause> Attribution::from_phases(const Verdict& verdict, SubjectId subject) const {
  double inside = 0;
  bool known = true;
  for (const SpanKind kind : {SpanKind::forward, SpanKind::backward, SpanKind::optimizer}) {
    const Nanos usual = spans_.usual(subject, kind, verdict.window_start);
    known = known && (usual > Nanos{} || kind == SpanKind::optimizer);
    const Nanos took = spans_.overlap(subject, kind, verdict.window_start, verdict.window_end);
    inside += to_seconds(std::max(took - usual, Nanos{}));
  }
  const double lost = lost_seconds(verdict);
  const double outside = lost - inside;
  if (!known || outside < kOutside * lost) return std::nullopt;
  return Cause{CauseName::host_pause,
               outside / lost,
               number(outside, 2) + " of " + number(lost, 2) +
                   " s were lost outside Forward, Backward and Optimizer.",
               {}};
}

void Attribution::add_spans(Verdict& verdict, SubjectId subject) const {
  if (is_enough(verdict.cause)) return;
  auto cause = from_span(verdict, subject, SpanKind::data_init);
  // Phases are written when they end, so the phase that an ongoing stall is in is not known yet.
  if (!cause && !verdict.provisional) cause = from_phases(verdict, subject);
  if (cause) verdict.cause = *cause;
}

Cause Attribution::explain(const Verdict& verdict, SubjectId subject) const {
  if (verdict.window_end <= verdict.window_start) return verdict.cause;
  const CauseName own = verdict.cause.name;
  const bool sure = is_enough(verdict.cause);
  const bool may_have_a_cause = own == CauseName::input_wait || own == CauseName::host_pause;
  const bool grew = own == CauseName::compute_growth;
  if (sure && !may_have_a_cause && !grew) return verdict.cause;
  for (const SpanKind kind :
       {SpanKind::garbage_collection, SpanKind::compilation, SpanKind::checkpoint}) {
    if (const auto cause = from_span(verdict, subject, kind)) return *cause;
  }
  if (const auto cause = from_node(verdict, subject)) return *cause;
  if (sure) return verdict.cause;
  Cause none;
  const SystemUsage usage = system_.usage(subject, verdict.window_start, verdict.window_end);
  if (!usage.cpu) none.missing.emplace_back("cpu samples");
  return none;
}

std::optional<Cause> Attribution::from_node(const Verdict& verdict, SubjectId subject) const {
  const bool sure = is_enough(verdict.cause);
  const bool grew = verdict.cause.name == CauseName::compute_growth;
  const Time start = verdict.window_start;
  const SystemUsage usage = system_.usage(subject, start, verdict.window_end);
  const SystemUsage before =
      system_.usage(subject, start - kBefore, start - std::chrono::seconds(1));
  if (grew || !sure) {
    if (auto cause = from_clocks(usage, before)) return cause;
  }
  // Where no core is free, the host's part of the computation takes longer.
  if (sure && grew && !is_held_back(usage, before)) return std::nullopt;
  return from_system(usage, before);
}

}  // namespace trainwatch

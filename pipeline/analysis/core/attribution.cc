#include "pipeline/analysis/core/attribution.h"

#include <algorithm>
#include <cstdio>

namespace trainwatch {
namespace {

constexpr double kSaturatedCore = 90.0;  // percent; SageMaker's cpu_threshold
constexpr double kHeavyIoWait = 50.0;    // percent; SageMaker's io_threshold
constexpr double kRise = 10.0;           // percentage points above the minute before
constexpr auto kBefore = std::chrono::seconds(60);

std::string number(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// Far up in the interval, and well above what it was in the minute before: a job that keeps its
// cores busy all the time was not slowed by that.
bool rose(const std::optional<double>& now, const std::optional<double>& before, double limit) {
  return now && *now > limit && (!before || *now - *before >= kRise);
}

Cause from_system(const SystemUsage& usage, const SystemUsage& before) {
  Cause cause;
  if (rose(usage.io_wait, before.io_wait, kHeavyIoWait)) {
    cause.name = CauseName::io_wait;
    cause.coverage = *usage.io_wait / 100.0;
    cause.explanation = "A core waited " + number(*usage.io_wait, 0) +
                        " % of the interval for disk or network I/O.";
  } else if (rose(usage.busiest_core, before.busiest_core, kSaturatedCore)) {
    cause.name = CauseName::cpu_saturation;
    cause.coverage = *usage.busiest_core / 100.0;
    cause.explanation =
        "The busiest CPU core ran at " + number(*usage.busiest_core, 0) + " % in the interval.";
  } else {
    if (!usage.cpu) cause.missing.emplace_back("cpu samples");
    if (!usage.gpu) cause.missing.emplace_back("gpu samples");
  }
  return cause;
}

}  // namespace

Cause Attribution::explain(const Verdict& verdict, SubjectId subject) const {
  if (is_enough(verdict.cause)) return verdict.cause;
  const Nanos window = verdict.window_end - verdict.window_start;
  if (window <= Nanos{}) return verdict.cause;

  const Nanos writing =
      spans_.overlap(subject, SpanKind::checkpoint, verdict.window_start, verdict.window_end);
  if (const double covered = to_seconds(writing) / to_seconds(window); covered >= kEnough) {
    return {CauseName::checkpoint,
            covered,
            "Writing a checkpoint took " + number(to_seconds(writing), 3) + " s of the interval.",
            {}};
  }
  const Time start = verdict.window_start;
  return from_system(system_.usage(subject, start, verdict.window_end),
                     system_.usage(subject, start - kBefore, start - std::chrono::seconds(1)));
}

}  // namespace trainwatch

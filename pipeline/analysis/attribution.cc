#include "pipeline/analysis/attribution.h"

#include <algorithm>
#include <cstdio>

namespace trainwatch {
namespace {

constexpr double kEnough = 0.5;          // a cause must explain at least half of the lost time
constexpr double kSaturatedCore = 90.0;  // percent; SageMaker's cpu_threshold
constexpr double kHeavyIoWait = 50.0;    // percent; SageMaker's io_threshold

std::string number(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

Cause from_system(const SystemUsage& usage) {
  Cause cause;
  if (usage.io_wait && *usage.io_wait > kHeavyIoWait) {
    cause.name = CauseName::io_wait;
    cause.coverage = *usage.io_wait / 100.0;
    cause.explanation = "A core waited " + number(*usage.io_wait, 0) +
                        " % of the interval for disk or network I/O.";
  } else if (usage.busiest_core && *usage.busiest_core > kSaturatedCore) {
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
  if (verdict.cause.coverage >= kEnough) return verdict.cause;
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
  return from_system(system_.usage(subject, verdict.window_start, verdict.window_end));
}

}  // namespace trainwatch

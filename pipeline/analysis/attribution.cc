#include "pipeline/analysis/attribution.h"

#include <algorithm>
#include <cstdio>

namespace trainwatch {
namespace {

constexpr double kEnough = 0.5;          // a cause must explain at least half of the lost time
constexpr double kSaturatedCore = 90.0;  // percent; SageMaker's cpu_threshold
constexpr double kHeavyIoWait = 50.0;    // percent; SageMaker's io_threshold

std::string sentence(const char* format, double number) {
  char text[160];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

Cause from_span(CauseName name, double coverage, Nanos overlap, const char* format) {
  return {name, coverage, sentence(format, to_seconds(overlap)), {}};
}

Cause from_system(const SystemUsage& usage) {
  Cause cause;
  if (usage.io_wait && *usage.io_wait > kHeavyIoWait) {
    cause.name = CauseName::io_wait;
    cause.coverage = *usage.io_wait / 100.0;
    cause.explanation =
        sentence("A core waited %.0f %% of the interval for disk or network I/O.", *usage.io_wait);
  } else if (usage.busiest_core && *usage.busiest_core > kSaturatedCore) {
    cause.name = CauseName::cpu_saturation;
    cause.coverage = *usage.busiest_core / 100.0;
    cause.explanation =
        sentence("The busiest CPU core ran at %.0f %% in the interval.", *usage.busiest_core);
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

  const auto share = [&](SpanKind kind) {
    const Nanos overlap = spans_.overlap(subject, kind, verdict.window_start, verdict.window_end);
    return std::pair{overlap, to_seconds(overlap) / to_seconds(window)};
  };
  if (const auto [overlap, covered] = share(SpanKind::checkpoint); covered >= kEnough) {
    return from_span(CauseName::checkpoint, covered, overlap,
                     "Writing a checkpoint took %.3g s of the interval.");
  }
  return from_system(system_.usage(subject, verdict.window_start, verdict.window_end));
}

}  // namespace trainwatch

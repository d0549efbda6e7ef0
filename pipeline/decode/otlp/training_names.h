// SPDX-License-Identifier: Apache-2.0
// What the spans, metrics and attributes of a training are called in OpenTelemetry. There is no
// semantic convention for it, so these are the names of Megatron-LM and NeMo: `megatron.*`, with
// `dl.*` of Lens, and the newer `nv.dl.*` and `nv.mlm.*`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trainwatch/event.h"
#include "trainwatch/scalar.h"

namespace trainwatch {

struct OtlpSpanMeaning {
  enum class Stage : std::uint8_t {
    other,
    startup,  // of a process, before its first step
    restore,  // a checkpoint is read; it lies in the startup
    over,     // the last checkpoint is written to its end: the training has ended
  };
  SpanKind kind = SpanKind::other;
  Stage stage = Stage::other;
};

// Of spans that lie in each other one has a kind, so that no second counts twice.
OtlpSpanMeaning meaning_of_otlp_span(std::string_view name);

// Whether the attribute of a span or an event is the number of the step.
bool is_step_attribute(std::string_view key);

// Metrics that count: what is new since the last export is the difference of two sums.
enum class OtlpCounter : std::uint8_t { none, step_duration, skipped_steps, tokens, count_ };

struct OtlpMetricMeaning {
  ScalarKind kind = ScalarKind::other;
  double scale = 1;  // to the unit of the kind
  OtlpCounter counter = OtlpCounter::none;
};

OtlpMetricMeaning meaning_of_otlp_metric(std::string_view name);

// Newer Megatron-LM reports what it logs as events of spans: one for each loss, with name and
// value, and one for all other figures, whose attributes begin with kReportPrefix.
inline constexpr std::string_view kObjectiveEvent = "nv.dl.training.objective";
inline constexpr std::string_view kObjectiveName = "nv.dl.training.objective.name";
inline constexpr std::string_view kObjectiveValue = "nv.dl.training.objective.value";
inline constexpr std::string_view kNumericsEvent = "nv.dl.training.numerics";
inline constexpr std::string_view kReportPrefix = "nv.dl.training.";

ScalarKind kind_of_objective(std::string_view name);
// `name`: the attribute behind the prefix.
ScalarKind kind_of_numeric(std::string_view name);

}  // namespace trainwatch

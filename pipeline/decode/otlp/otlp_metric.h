// SPDX-License-Identifier: Apache-2.0
// A metric of OTLP with its points, and what is new in one that counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/otlp/otlp_writers.h"
#include "pipeline/decode/otlp/training_names.h"
#include "trainwatch/scalar.h"

namespace trainwatch {

// Texts are raw, valid as long as the one they are read from; empty: not there.
struct OtlpMetric {
  enum class Kind : std::uint8_t { none, gauge, sum, histogram };

  std::string_view name{};
  std::string_view points{};  // the list of them
  OtlpMetricMeaning meaning{};
  Kind kind = Kind::none;
  bool cumulative = false;  // points count since their start; else since the last export
  bool monotonic = false;
};
OtlpMetric read_otlp_metric(std::string_view text);

struct OtlpPoint {
  std::string_view at{}, start{}, value{}, count{}, sum{}, attributes{};
};
OtlpPoint read_otlp_point(std::string_view text);

// The name, with the attributes of the point if there are any: "queue{of=x,for=y}".
std::string tag_of(const OtlpMetric& metric, const OtlpPoint& point);

// Of a metric that counts: what is new at `at` since `before`, which becomes the sum of this point.
// Without tag and subject. nullopt: nothing, or it is not known.
std::optional<Scalar> counted_since(const OtlpMetric& metric, const OtlpPoint& point, Time at,
                                    OtlpSum& before);

}  // namespace trainwatch

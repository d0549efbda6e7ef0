// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/otlp/otlp_metric.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/decode/otlp/otlp_json.h"

namespace trainwatch {
namespace {

void read_data(OtlpMetric::Kind kind, std::string_view data, OtlpMetric& metric) {
  metric.kind = kind;
  each_member(data, [&metric](std::string_view key, std::string_view value) {
    if (key == "dataPoints") metric.points = value;
    if (key == "isMonotonic") metric.monotonic = value == "true";
    if (key == "aggregationTemporality") {
      metric.cumulative = value == "2" || value == "\"AGGREGATION_TEMPORALITY_CUMULATIVE\"";
    }
  });
}

}  // namespace

OtlpMetric read_otlp_metric(std::string_view text) {
  OtlpMetric metric;
  each_member(text, [&metric](std::string_view key, std::string_view value) {
    if (key == "name") metric.name = between_quotes(value);
    if (key == "gauge") read_data(OtlpMetric::Kind::gauge, value, metric);
    if (key == "sum") read_data(OtlpMetric::Kind::sum, value, metric);
    if (key == "histogram") read_data(OtlpMetric::Kind::histogram, value, metric);
  });
  metric.meaning = meaning_of_otlp_metric(metric.name);
  return metric;
}

OtlpPoint read_otlp_point(std::string_view text) {
  OtlpPoint point;
  each_member(text, [&point](std::string_view key, std::string_view token) {
    if (key == "timeUnixNano") point.at = token;
    if (key == "startTimeUnixNano") point.start = token;
    if (key == "asDouble" || key == "asInt") point.value = token;
    if (key == "count") point.count = token;
    if (key == "sum") point.sum = token;
    if (key == "attributes") point.attributes = token;
  });
  return point;
}

std::string tag_of(const OtlpMetric& metric, const OtlpPoint& point) {
  std::string tag(metric.name);
  std::string_view before = "{";
  each_attribute(point.attributes, [&](std::string_view key, std::string_view value) {
    tag.append(std::exchange(before, ",")).append(key).append("=").append(plain_token(value));
  });
  if (before == ",") tag += '}';
  return tag;
}

std::optional<Scalar> counted_since(const OtlpMetric& metric, const OtlpPoint& point, Time at,
                                    OtlpSum& before) {
  const bool histogram = metric.kind == OtlpMetric::Kind::histogram;
  const auto sum = otlp_number(histogram ? point.sum : point.value);
  const auto count = histogram ? otlp_number(point.count) : sum;
  if (!sum || !count || !std::isfinite(*sum)) return std::nullopt;
  const OtlpSum now{otlp_time(point.start).value_or(kNoTime), at, *count, *sum};
  const OtlpSum last = std::exchange(before, now);
  const bool goes_on =
      metric.cumulative && last.at != kNoTime && last.start == now.start && last.count <= now.count;
  // Of a file that a rotation began, the first sum has what was reported before.
  if (!histogram && metric.cumulative && last.at == kNoTime) return std::nullopt;
  Scalar scalar{.at = at, .kind = metric.meaning.kind, .timed = true};
  const double more = goes_on ? now.count - last.count : now.count;
  const double added = (goes_on ? now.sum - last.sum : now.sum) * metric.meaning.scale;
  if (histogram) {
    if (!(more >= 1)) return std::nullopt;
    scalar.value = added / more;
    // One of them may itself be a mean.
    scalar.steps = static_cast<std::uint32_t>(std::clamp(more, 2.0, 1e9));
  } else if (metric.meaning.counter == OtlpCounter::tokens) {
    const Time from = goes_on || now.start == kNoTime ? last.at : now.start;
    if (from == kNoTime || at <= from) return std::nullopt;
    scalar.value = added / to_seconds(at - from);
  } else {
    scalar.value = added;
  }
  return scalar;
}

}  // namespace trainwatch

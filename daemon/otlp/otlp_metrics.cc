// SPDX-License-Identifier: Apache-2.0
#include "daemon/otlp/otlp_metrics.h"

#include <utility>

#include "daemon/net/metrics_writer.h"

namespace trainwatch {
namespace {

constexpr int kCumulative = 2;  // AggregationTemporality

void write_histogram(JsonWriter& json, const MetricFamily& family, const MetricPoint& point) {
  std::vector<double> bounds;
  std::vector<std::uint64_t> counts;
  std::uint64_t before = 0;
  if (point.details) {
    for (BucketCursor bucket(family, *point.details); bucket.next();) {
      counts.push_back(bucket.cumulative() - std::exchange(before, bucket.cumulative()));
      if (bucket.index() < family.bounds.size()) bounds.push_back(bucket.bound());
    }
  }
  write_int64(json, "count", before);
  write_double(json, "sum", point.sum);
  json.key("bucketCounts").begin_array();
  for (const std::uint64_t count : counts) json.value(std::to_string(count));
  json.end_array().key("explicitBounds").begin_array();
  for (const double bound : bounds) json.value(bound);
  json.end_array();
}

}  // namespace

std::string_view otlp_unit(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
      {"_bytes_per_second", "By/s"},
      {"_operations_per_second", "{operation}/s"},
      {"_seconds", "s"},
      {"_bytes", "By"},
      {"_ratio", "1"},
      {"_celsius", "Cel"},
      {"_watts", "W"},
      {"_hertz", "Hz"},
  };
  if (name.ends_with("_total")) name.remove_suffix(6);
  for (const auto& [ending, unit] : kUnits) {
    if (name.ends_with(ending)) return unit;
  }
  return {};
}

OtlpMetricRequests::OtlpMetricRequests(std::shared_ptr<const Snapshot> snapshot,
                                       std::vector<MetricFamily> more, OtlpResource resource,
                                       Time now, std::size_t bytes)
    : snapshot_(std::move(snapshot)),
      more_(std::move(more)),
      resource_(std::move(resource)),
      now_ns_(std::to_string(to_ns(now))),
      bytes_(bytes) {
  const auto add = [this](const MetricFamilies& families) {
    for (const MetricFamily& family : families) families_.push_back(&family);
  };
  if (snapshot_ && snapshot_->job_metrics) add(*snapshot_->job_metrics);
  if (snapshot_) add(snapshot_->metrics);
  add(more_);
  skip_empty();
}

const MetricFamily* OtlpMetricRequests::family() const {
  return family_ < families_.size() ? families_[family_] : nullptr;
}

void OtlpMetricRequests::skip_empty() {
  while (family() != nullptr && point_ == family()->points.size()) {
    ++family_;
    point_ = 0;
  }
}

std::optional<std::string> OtlpMetricRequests::next() {
  if (family() == nullptr) return std::nullopt;
  points_ = 0;
  JsonWriter json;
  json.begin_object().key("resourceMetrics").begin_array().begin_object();
  begin_scope(json, resource_, "scopeMetrics");
  json.key("metrics").begin_array();
  while (family() != nullptr && (points_ == 0 || json.text().size() < bytes_)) {
    write_family(json);
    skip_empty();
  }
  json.end_array().end_object().end_array();  // metrics, scopeMetrics
  return json.end_object().end_array().end_object().take();
}

void OtlpMetricRequests::write_family(JsonWriter& json) {
  const MetricFamily& of = *family();
  json.begin_object().field("name", of.name).field("description", of.help);
  json.field("unit", otlp_unit(of.name));
  constexpr std::string_view kKinds[] = {"sum", "gauge", "histogram"};  // by MetricType
  json.key(kKinds[static_cast<std::size_t>(of.type)]).begin_object();
  if (of.type != MetricType::gauge) json.field("aggregationTemporality", kCumulative);
  if (of.type == MetricType::counter) json.field("isMonotonic", true);
  json.key("dataPoints").begin_array();
  do {
    write_point(json, of, of.points[point_++]);
    ++points_;
  } while (point_ < of.points.size() && json.text().size() < bytes_);
  json.end_array().end_object().end_object();
}

void OtlpMetricRequests::write_point(JsonWriter& json, const MetricFamily& of,
                                     const MetricPoint& point) const {
  json.begin_object().key("attributes").begin_array();
  for (const auto& [name, value] : point.labels) write_attribute(json, name, value);
  json.end_array().field("timeUnixNano", now_ns_);
  if (of.type == MetricType::histogram) {
    write_histogram(json, of, point);
  } else {
    write_double(json, "asDouble", point.value);
  }
  json.end_object();
}

}  // namespace trainwatch

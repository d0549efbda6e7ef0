// SPDX-License-Identifier: Apache-2.0
// Metrics as OTLP wants them: ExportMetricsServiceRequest of OpenTelemetry's protocol 1.x in its
// JSON encoding (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding").
//
// Counters are cumulative monotonic sums, histograms cumulative explicit-bucket histograms. Names
// and attributes are those of /metrics, so that what is written for Prometheus finds them. Sums
// have no start time: those about the job go on after a restart of trainwatch.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/otlp/otlp_json.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

// The metrics of one moment as requests of bounded size, made one after the other.
class OtlpMetricRequests {
 public:
  // A request has about this many bytes, and one point at least.
  static constexpr std::size_t kBytes = std::size_t{1} << 20U;

  // `more` are families that the snapshot does not have.
  OtlpMetricRequests(std::shared_ptr<const Snapshot> snapshot, std::vector<MetricFamily> more,
                     OtlpResource resource, Time now, std::size_t bytes = kBytes);

  OtlpMetricRequests(OtlpMetricRequests&&) = default;
  OtlpMetricRequests& operator=(OtlpMetricRequests&&) = default;

  // The next body; nullopt if there is nothing left.
  std::optional<std::string> next();
  // How many data points the last one had.
  std::size_t points() const { return points_; }

 private:
  const MetricFamily* family() const;  // the one at family_; null behind the last
  void skip_empty();
  void write_family(JsonWriter& json);
  void write_point(JsonWriter& json, const MetricFamily& family, const MetricPoint& point) const;

  std::shared_ptr<const Snapshot> snapshot_;
  MetricFamilies more_;
  std::vector<const MetricFamily*> families_;  // the snapshot's, then those of more_
  OtlpResource resource_;
  std::string now_ns_;
  std::size_t bytes_;
  std::size_t family_ = 0;
  std::size_t point_ = 0;  // of that family: the first that is not written yet
  std::size_t points_ = 0;
};

// The unit of a metric as OTLP writes it ("s", "By", "1"), by its name in base units; empty: none.
std::string_view otlp_unit(std::string_view name);

}  // namespace trainwatch

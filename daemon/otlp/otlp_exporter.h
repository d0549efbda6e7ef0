// SPDX-License-Identifier: Apache-2.0
// Pushes the metrics to an OpenTelemetry collector over OTLP/HTTP, once per interval. Net thread
// only.
//
// Metrics are cumulative, so one that does not arrive is not repeated: the next one says the same.
// While the collector fails, the time between attempts doubles, up to kLongestPause, and is never
// shorter than its Retry-After.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/http_client/http_client.h"
#include "daemon/logging.h"
#include "daemon/otlp/otlp_metrics.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

struct OtlpOptions {
  HttpClientOptions http;  // where metrics go: ".../v1/metrics"
  std::chrono::milliseconds interval{15'000};
  OtlpResource resource;
};

class OtlpExporter {
 public:
  using Clock = std::chrono::steady_clock;
  using Families = std::function<std::vector<MetricFamily>()>;

  static constexpr std::chrono::minutes kLongestPause{5};

  // `more` returns what the snapshots lack. `io`, `resolver` and `log` outlive the exporter.
  OtlpExporter(boost::asio::io_context& io, HostResolver& resolver, OtlpOptions options,
               Families more, Logger& log);

  // The latest snapshot, about once a second. Begins to push it if that is due.
  void show(std::shared_ptr<const Snapshot> snapshot, Clock::time_point now);
  // The job may be over before the next interval: pushes the latest snapshot now, or after what is
  // being pushed.
  void push_last();
  bool busy() const { return requests_.has_value(); }

  struct Counters {
    std::uint64_t accepted = 0;  // requests
    std::uint64_t failed = 0;
    std::uint64_t points_rejected = 0;  // of accepted requests
  };
  const Counters& counters() const { return counters_; }

 private:
  void push(Clock::time_point now);
  void send_next();
  void answered(const Result<ReceivedResponse>& response);
  void failed(const std::string& why, std::chrono::seconds retry_after);
  void succeeded();

  OtlpOptions options_;
  Families more_;
  Logger& log_;
  std::shared_ptr<const Snapshot> latest_;
  std::optional<OtlpMetricRequests> requests_;  // being pushed
  bool last_wanted_ = false;
  Clock::time_point due_{};
  std::chrono::milliseconds pause_{};  // after the last failure; zero: it did not fail
  Counters counters_;
  HttpClient client_;  // last: its callbacks use the others
};

// How many points a collector that answered with 200 has rejected, and why it says so
// (ExportMetricsPartialSuccess); nullopt: none.
struct OtlpRejection {
  std::uint64_t points = 0;
  std::string why;
};
std::optional<OtlpRejection> otlp_rejection(std::string_view body);

}  // namespace trainwatch

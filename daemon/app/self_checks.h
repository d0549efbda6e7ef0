// SPDX-License-Identifier: Apache-2.0
// The health of the daemon as a whole, for its metrics and self-alerts: the store, polling, the
// reader thread, the configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/logging.h"
#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/self_alerts.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

// The health of the store: its metrics, and when alerts are sent although they cannot be stored.
class CommitHealth {
 public:
  using Clock = std::chrono::steady_clock;

  void succeeded(Clock::duration took);
  // True if this failure is news: the first one, or another message.
  bool failed(Clock::time_point now, const std::string& what);

  bool degraded() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  // Storing has failed for so long that alerts are sent without being stored.
  bool provisional_due(Clock::time_point now) const;

  void collect(const StateStore& store, std::vector<MetricFamily>& out) const;

 private:
  WaitHistogram durations_;
  std::uint64_t failures_ = 0;
  std::string failure_;  // the last one; empty after a successful commit
  Clock::time_point failing_since_{};
};

struct DaemonState {
  const CommitHealth& storing;
  const TailReport& tail;
  const std::string& state_lost;                         // empty: it was not
  std::chrono::steady_clock::duration reader_silence{};  // since its last report
};

// The current problems, for the self-alerts.
std::vector<SelfCondition> self_checks(const DaemonState& state);

// Watched paths that do not exist, for however short a time: for who looks now.
std::optional<SelfCondition> missing_roots(const TailReport& tail);

struct ReloadState {
  bool successful = true;
  bool web_successful = true;  // of the web configuration file
  std::chrono::system_clock::time_point last_success{};
};

// Build, configuration and log.
void app_metrics(const ReloadState& reloads, const LogLosses& log, std::vector<MetricFamily>& out);

}  // namespace trainwatch

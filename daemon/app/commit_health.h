// The health of the store: its metrics, and when alerts that cannot be stored are sent anyway.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

class CommitHealth {
 public:
  using Clock = std::chrono::steady_clock;

  void succeeded(Clock::duration took);
  // True when this failure is news: the first, or another message.
  bool failed(Clock::time_point now, const std::string& what);

  bool degraded() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  // Storing has failed for so long that alerts are sent without it.
  bool provisional_due(Clock::time_point now) const;

  void collect(const StateStore& store, std::vector<MetricFamily>& out) const;

 private:
  Histogram durations_;
  std::uint64_t failures_ = 0;
  std::string failure_;  // the last one; empty when the last commit went well
  Clock::time_point failing_since_{};
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// The snapshot that the engine thread publishes about once a second. What is about jobs and files
// is made again only if something has come since: beside a thousand files that have stopped
// growing, it would be most of what trainwatch does. Engine thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/app/daemon_clock.h"
#include "daemon/app/self_checks.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/series_budget.h"
#include "pipeline/state/durable_pipeline.h"
#include "pipeline/state/state_store.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

class SnapshotMaker {
 public:
  explicit SnapshotMaker(const MetricsConfig& config)
      : cardinality_(config.cardinality), budget_(config) {}

  // Something has come, or has changed what the engine collects.
  void changed() { job_metrics_ = nullptr; }
  // Since the last snapshot.
  bool has_changed() const { return job_metrics_ == nullptr; }

  struct Sources {
    DurablePipeline& pipeline;
    const StatusHeader& header;
    const TailReport& report;
    const SourceHealthTracker& watch;
    const CommitHealth& health;
    const StateStore& store;
    const DaemonClock& clock;
    const std::vector<SelfCondition>& conditions;
  };
  std::shared_ptr<Snapshot> make(const Sources& of);

 private:
  void collect(const Sources& of, Snapshot& snapshot);

  const Cardinality cardinality_;
  SeriesBudget budget_;                                // of /metrics
  std::shared_ptr<const MetricFamilies> job_metrics_;  // null: to be collected again
  std::string files_;                                  // of the status
};

}  // namespace trainwatch

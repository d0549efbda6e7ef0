// Engine and ingest on top of a store. Where the tailer resumes, the state of every decoder,
// analysis and rule, and the alerts are one commit, and alerts leave through commit() only. So each
// is published exactly once, whenever the process dies.
//
// One thread. The owner decides when to commit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/engine/ingest.h"
#include "pipeline/engine/self_alerts.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

class DurablePipeline {
 public:
  // `store` outlives the pipeline.
  DurablePipeline(std::vector<RuleConfig> rules, IngestOptions options, StateStore& store,
                  AnalysisList analyses = {});

  // Loads what the store holds. State of another version, or damaged state, is dropped: the files
  // are read from their beginnings again, and alerts that were published are not published again.
  // Fails only if the store does.
  Status start();
  // Why start() dropped the stored state; empty if it did not.
  const std::string& dropped() const { return dropped_; }
  // Where the tailer resumes. Valid right after start().
  TailCheckpoint checkpoint() const { return ingest_->checkpoint(); }

  TailSink& sink() { return *ingest_; }
  Engine& engine() { return *engine_; }
  Ingest& ingest() { return *ingest_; }
  const Engine& engine() const { return *engine_; }
  const Ingest& ingest() const { return *ingest_; }

  // Replaces the rules; see Engine::reconfigure.
  void reconfigure(std::vector<RuleConfig> rules);

  // All current conditions of trainwatch itself. What began or ended is part of the next commit.
  void raise_self_alerts(Time now, const std::vector<SelfCondition>& conditions);

  // A named subscriber has everything up to `seq`. Part of the next commit.
  void acknowledge(const std::string& name, std::uint64_t seq);

  // Makes durable what happened since the last commit, and returns the alerts that may be published
  // now. After a failure all of it is part of the next commit.
  Result<PublishedAlerts> commit(Time now);
  // A commit would return alerts.
  bool has_emitted() const { return engine_->has_emitted(); }
  // Alerts of a failed commit, which wait for the next.
  const std::vector<Alert>& waiting() const { return waiting_.alerts; }

 private:
  void make(std::vector<RuleConfig> rules);
  void collect();

  IngestOptions options_;
  AnalysisList analyses_;
  StateStore& store_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Ingest> ingest_;
  SelfAlerts self_;
  std::string dropped_;
  bool all_ = true;  // the next commit compares every row and removes obsolete ones
  StateRows rows_;   // changed and not committed yet
  Commit waiting_;   // alerts and cursors that are not committed yet
  std::unordered_map<std::string, std::uint64_t> stored_;  // a hash of each row in the store
};

}  // namespace trainwatch

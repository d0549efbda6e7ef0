// The pipeline with a memory: engine and ingest on a store. What the tailer is told to go on from,
// the state of every decoder, analysis and rule, and the alerts are one commit; alerts come out of
// commit() and from nowhere else. So each is told once, whenever the process dies.
//
// One thread. Decides nothing about time: the owner says when to commit.
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

  // Takes up what the store holds. State of another version, or that does not load, is dropped: the
  // files are read from their beginnings again, and alerts that were told before are not told
  // again. Fails only when the store does.
  Status start();
  // Why start() dropped stored state; empty when it did not.
  const std::string& dropped() const { return dropped_; }
  // Where the tailer is to go on: valid right after start().
  TailCheckpoint checkpoint() const { return ingest_->checkpoint(); }

  TailSink& sink() { return *ingest_; }
  Engine& engine() { return *engine_; }
  Ingest& ingest() { return *ingest_; }
  const Engine& engine() const { return *engine_; }
  const Ingest& ingest() const { return *ingest_; }

  // Replaces the rules; see Engine::reconfigure.
  void reconfigure(std::vector<RuleConfig> rules);

  // All that is wrong with trainwatch itself now; what began or ended is told with the next commit.
  void tell_about_self(Time now, const std::vector<SelfCondition>& conditions);

  // A named subscriber has everything up to `seq`: part of the next commit.
  void acknowledge(const std::string& name, std::uint64_t seq);

  // Makes everything durable that happened since the last commit, and returns the alerts that may
  // be published now. After a failure all of it is part of the next attempt.
  Result<PublishedAlerts> commit(Time now);
  // There are alerts that a commit would bring out.
  bool has_told() const { return engine_->has_told(); }
  // Alerts that wait for a commit that failed.
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
  bool all_ = true;  // the next commit looks at every row, and removes those that are not there
  StateRows rows_;   // changed and not committed yet
  Commit waiting_;   // alerts and cursors that are not committed yet
  std::unordered_map<std::string, std::uint64_t> stored_;  // a hash of each row in the store
};

}  // namespace trainwatch

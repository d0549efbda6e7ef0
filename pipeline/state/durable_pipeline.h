// SPDX-License-Identifier: Apache-2.0
// Engine and ingest on top of a store. Read positions, the state of every decoder, analysis and
// rule, and the alerts form one commit, and alerts leave only through commit(). So each is
// published exactly once, whenever the process dies.
//
// One thread. The owner decides when to commit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/engine/ingest.h"
#include "pipeline/engine/self_alerts.h"
#include "pipeline/state/state_store.h"
#include "pipeline/state/stored_hashes.h"

namespace trainwatch {

class DurablePipeline {
 public:
  // `store` outlives the pipeline.
  DurablePipeline(std::vector<RuleConfig> rules, IngestOptions options, StateStore& store,
                  AnalysisList analyses = {}, RunBoth run_both = nullptr);

  // Loads what the store holds. State that is damaged or of another version is dropped: the files
  // are read from their beginnings again, and alerts that were published are not published again.
  // Fails only if the store does.
  Status start();
  // Why start() dropped the stored state; empty if it did not.
  const std::string& dropped() const { return dropped_; }
  // The dropped state was of another version, not damaged.
  bool upgraded() const { return upgraded_; }
  // Where the tailer resumes. Valid directly after start().
  TailCheckpoint checkpoint() const { return ingest_->checkpoint(); }

  TailSink& sink() { return *ingest_; }
  Engine& engine() { return *engine_; }
  Ingest& ingest() { return *ingest_; }
  const Engine& engine() const { return *engine_; }
  const Ingest& ingest() const { return *ingest_; }

  // Replaces the rules; see Engine::reconfigure.
  void reconfigure(std::vector<RuleConfig> rules);

  // A round of LastSeen is over. Forgets what nothing was heard of for LastSeen::kPatience rounds:
  // subjects with the state of their rules, their series, and names that nothing refers to any
  // more. Open alerts about them are resolved. True: there was something to forget, and every
  // SubjectId, SeriesId and Symbol from before is void.
  bool next_round();

  // All current conditions of trainwatch itself. Those that began or ended become alerts of the
  // next commit.
  void raise_self_alerts(Time now, const std::vector<SelfCondition>& conditions);

  // Ends, with the next commit, the alerts that fire in the store but not in the engine: their
  // files are gone. Call it once all files have been read again after start() dropped the state.
  Status end_orphans();

  // A named subscriber has received everything up to `seq`. Part of the next commit.
  void acknowledge(const std::string& name, std::uint64_t seq);
  // See Commit. Part of the next commit.
  void keep(Notes notes);
  void forget_subscriber(const std::string& name);

  // Makes everything since the last commit durable, and returns the alerts that may be published
  // now. After a failure, all of it is part of the next commit.
  Result<PublishedAlerts> commit(Time now);
  // True if a commit would return alerts of the engine.
  bool has_settled() const { return engine_->has_settled(); }
  // Alerts of a failed commit, which wait for the next one.
  const std::vector<Alert>& waiting() const { return waiting_.alerts; }
  // Those from this one on, as clients may see them before they are stored: without numbers.
  PublishedAlerts provisional(std::size_t from) const;

 private:
  void make(std::vector<RuleConfig> rules);
  StoredRows all_rows();
  bool take_over(const StoredRows& rows, Interner old, const LastSeen& seen);
  void put_rows(StateRows& rows);

  IngestOptions options_;
  AnalysisList analyses_;
  RunBoth run_both_;
  StateStore& store_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Ingest> ingest_;
  SelfAlerts self_;
  std::string dropped_;
  bool upgraded_ = false;
  bool all_ = true;  // the next commit compares every row and removes obsolete ones
  Commit waiting_;   // alerts, cursors and notes, not committed yet
  StoredHashes stored_;
};

}  // namespace trainwatch

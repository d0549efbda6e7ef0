// SPDX-License-Identifier: Apache-2.0
// The engine thread: the only owner of the durable pipeline and its store. It receives the tailer's
// calls as messages, in order, and passes on committed alerts and snapshots.
//
// Alerts are always committed first and published second. A commit happens as soon as there is an
// alert, else as commit_pace.h says: what came since the last one is read again after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/dump_request.h"
#include "daemon/net/engine_client.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/series_budget.h"
#include "pipeline/state/durable_pipeline.h"
#include "trainwatch/rule.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

struct EngineThreadOptions {
  std::string version;
  std::vector<RuleConfig> rules;
  IngestOptions ingest;
  std::string state_lost{};  // why the store starts over; empty: it does not
  AnalysisList analyses{};
  bool rejected_samples = false;  // in the status
  Nanos forget_after{};           // see DurablePipeline::next_round
  MetricsConfig metrics{};
  std::string dump_pipes{};  // whose pipes are asked for dumps when a stall opens; empty: none
};

class EngineThread {
 public:
  // Called on the engine thread; they must only pass the data to their own thread.
  struct Callbacks {
    // Committed alerts, in order; `first_seq` is the oldest that is still stored.
    std::function<void(PublishedAlerts, std::uint64_t first_seq)> alerts;
    // Alerts that wait for a failing store: they have no sequence number, and are sent again with
    // one after it recovers.
    std::function<void(PublishedAlerts)> provisional;
    std::function<void(std::shared_ptr<Snapshot>)> snapshot;
    std::function<void(const std::string& what)> store_failed;
    std::function<void()> store_recovered;
    // The store cannot recover: the process should exit and be restarted.
    std::function<void(const std::string& what)> store_broken;
    // A stall has opened, and the job was asked for dumps.
    std::function<void(const DumpRequest&)> dumps_requested;
  };

  EngineThread(EngineThreadOptions options, std::unique_ptr<StateStore> store, Callbacks callbacks);
  ~EngineThread();

  // For the status page, before start(): what the sandbox enforces, or why nothing.
  void show_sandbox(std::string text);

  // Loads the stored state and starts the thread. Fails if the store cannot be read.
  Status start();
  // After start(), before the reader's first call: where the reader resumes, and why stored state
  // was not used, if so.
  const TailCheckpoint& checkpoint() const;
  const std::string& dropped_state() const;

  // For the reader thread. data() blocks while too many chunks are in flight: the file is the
  // overflow buffer. It stops blocking when stop() is called.
  TailSink& inbox();
  // For the reader thread: the progress of a pass over all files.
  void pass_done(TailReport report);

  // For any thread. Replaces the rules between two messages.
  void reconfigure(std::vector<RuleConfig> rules);
  // For any thread. Reads the store, see StateStore::alerts_after(); `done` is called on the engine
  // thread, and dropped if the engine stops first.
  void fetch_alerts(std::uint64_t after, std::size_t limit,
                    std::function<void(Result<PublishedAlerts>)> done);
  void fetch_firing(std::size_t limit, std::function<void(Result<PublishedAlerts>)> done);
  // For any thread. Shows what was read so far, and the store; `inspection` is called on the engine
  // thread, and dropped if the engine stops first.
  using Inspection =
      std::function<void(const Engine& engine, const Ingest& ingest, StateStore& store)>;
  void inspect(Inspection inspection);
  // For any thread. Publishes a snapshot, unless there is one of this half second; then `done` is
  // called on the engine thread, and dropped if the engine stops first.
  void refresh(std::function<void()> done);
  // For any thread. Whether somebody wants a snapshot each second; otherwise they may come every
  // five.
  void set_audience(bool there);
  // For any thread. Asks for something about what was read so far; `question` and `done` are called
  // on the engine thread, and dropped if the engine stops first.
  using Question = std::function<HttpResponse(const Engine& engine)>;
  void ask(Question question, std::function<void(HttpResponse)> done);
  // For any thread. Stores the position of a named subscriber, with the next successful commit.
  void acknowledge(const std::string& name, std::uint64_t seq);
  // For any thread. Stores what a receiver of notifications has got, in one commit; or silences.
  // Calls kept.stored on this thread.
  void keep(KeptDelivery kept);
  // For any thread. What is wrong with notifying, for self-alerts, until the next call.
  void notify_conditions(std::vector<SelfCondition> conditions);

  // Steady-clock time of the last sign of life, for the watchdog.
  std::chrono::steady_clock::time_point last_heartbeat() const;

  // Makes data() return at once; later data is dropped. Call before joining the reader.
  void close_inbox();
  // For any thread. Processes the queued messages, judges what was read to its end (`job_over`: as
  // no more will follow, see Ingest::end_of_input), and commits; then calls `done` on the engine
  // thread. The clock stands still from then on; requests are answered until stop().
  void conclude(bool job_over, std::function<void()> done);
  // Processes the queued messages, emits what is held back, commits, and joins. The store is then
  // closed: another process may use it.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwatch

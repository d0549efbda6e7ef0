// SPDX-License-Identifier: Apache-2.0
// Events in, alerts out. Owns the interner, the analyses, the rules and the alert book; used by one
// thread. No I/O, no clock, no logging: alerts are a pure function of the configuration and the
// events. Ticks only drive rules about absence and the emission of held changes.
//
// Events of one lane must arrive in file order. Lanes may be interleaved in any way: the set of
// alerts and their final content stay the same, and so does the order within a lane.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/attribution.h"
#include "pipeline/analysis/core/checkpoint_history.h"
#include "pipeline/analysis/core/cycle_history.h"
#include "pipeline/analysis/core/gpu_metrics.h"
#include "pipeline/analysis/core/iteration_tracker.h"
#include "pipeline/analysis/core/job_pauses.h"
#include "pipeline/analysis/core/latest_samples.h"
#include "pipeline/analysis/core/logged_steps.h"
#include "pipeline/analysis/core/scalar_metrics.h"
#include "pipeline/analysis/core/span_history.h"
#include "pipeline/analysis/core/system_history.h"
#include "pipeline/analysis/core/training_metrics.h"
#include "pipeline/analysis/history/history.h"
#include "pipeline/analysis/job_times.h"
#include "pipeline/engine/alert_book.h"
#include "pipeline/engine/analysis_host.h"
#include "pipeline/engine/last_seen.h"
#include "pipeline/engine/node_judge.h"
#include "pipeline/engine/pending_causes.h"
#include "pipeline/engine/rule_host.h"
#include "pipeline/engine/run_both.h"
#include "pipeline/engine/step_feed.h"
#include "pipeline/hang/hang_tracker.h"
#include "pipeline/ledger/ledger.h"
#include "trainwatch/alert.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/run_note.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class Engine final : RuleHost::Outputs {
 public:
  // `run_both`: how a large batch is taken; null: one thing after the other.
  explicit Engine(std::vector<RuleConfig> rules, AnalysisList analyses = {},
                  RunBoth run_both = nullptr);
  ~Engine() override;

  // For the decoders, which intern into it.
  Interner& interner() { return interner_; }
  const Interner& interner() const { return interner_; }
  const SystemHistory& system_history() const { return system_; }

  void push(std::span<const Event> events);
  void on(const CycleTrace& cycle);
  // A cycle that was summarised elsewhere: for the rules only.
  void on(const CycleSummary& cycle);
  void on(CheckpointWrite write);
  void on(const std::string& job, RankDump dump);
  void on(const Tensor& tensor);
  void on(const std::string& job, WatchdogLine line);
  // A note comes in two parts: itself, and the event that stands for it in its place among others.
  // Returns the number for that event.
  std::uint64_t announce(RunNote note);
  // All that had been written of this subject to a file has been read.
  void read_to_end(SubjectId subject);
  // What a run of this job is called by its environment or its files.
  void name_run(const std::string& job, std::string_view id);
  // A log of this job was written to then, whatever it says.
  void written(const std::string& job, Time at);
  // What was pushed since the last call is from a file of this job, which was written to then.
  void read(const std::string& job, Time written);
  void tick(Time now);
  // The processes that write the timelines of runs that have not ended.
  std::vector<RankProcess> writers();
  // This one no longer exists. Only a live engine can know.
  void writer_gone(const RankProcess& writer);
  // The input has ended.
  void end_of_input();

  // Updates causes with everything read so far, and emits all held changes. Called about once a
  // second in a daemon and at the end of the input.
  void flush();

  // The alerts emitted since the last call, in order; `seq` is not set yet.
  std::vector<Alert> take_emitted() { return book_.take_emitted(); }
  std::vector<Alert> take_settled() { return book_.take_settled(); }
  bool has_settled() const { return book_.has_settled(); }
  void settle() { book_.settle(); }

  // The training steps that ended since the last call.
  StepFeed::Taken take_steps() { return step_feed_.take(interner_); }
  void forget_steps() { step_feed_.clear(); }

  // Replaces the rules. A rule with unchanged parameters keeps its state and alerts; a changed one
  // starts cold, and its open alerts resolve.
  void reconfigure(std::vector<RuleConfig> rules);

  const std::vector<RuleConfig>& rules() const { return host_->rules(); }
  const RuleHost& host() const { return *host_; }
  const AlertBook& book() const { return book_; }
  // A second of processing time is over: only for metrics. True: it changes what collect_metrics()
  // collects; otherwise, only input and alerts do.
  bool second_passed() { return latest_samples_.second_passed(); }
  // Appends the families about the job.
  void collect_metrics(Cardinality cardinality, std::vector<MetricFamily>& out) const;
  const GpuMetrics& gpu_metrics() const { return gpu_metrics_; }
  // Of /metrics, for lack of room in their family.
  std::uint64_t series_dropped() const {
    return metrics_.series_dropped() + latest_samples_.series_dropped() +
           scalar_metrics_.series_dropped() + gpu_metrics_.ranks_dropped();
  }
  const Ledger& ledger() const { return ledger_; }
  const History& history() const { return history_; }
  // Steps that are not in the history yet: see IterationTracker::each_without_waits().
  std::vector<Step> steps_without_waits() const;
  const AnalysisHost& analyses() const { return analyses_; }
  AnalysisHost& analyses() { return analyses_; }
  // Event time of the newest event, kNoTime before the first.
  Time latest() const { return latest_; }
  // The same of the job of a subject.
  Time latest(SubjectId subject) const { return job_times_.latest(subject); }

  // Puts what changed since the last call; `all`: everything. An engine that loads all rows
  // continues exactly where the saved one stopped, except that rules with another configuration
  // start cold and their open alerts resolve.
  void save(StateRows& rows, bool all);
  // Only for a new engine. False: the rows are damaged, and the engine must not be used.
  bool load(const StoredRows& rows);
  // The same for an engine whose interner has been filled with what is kept (AgedNames): alerts
  // about what is not are resolved.
  bool load_aged(const SavedState& saved);

  LastSeen& last_seen() { return last_seen_; }
  const LastSeen& last_seen() const { return last_seen_; }

 private:
  class RuleOutput;
  RuleHost::Outputs& outputs() { return *this; }
  std::unique_ptr<Output> make(std::uint32_t rule, const RuleConfig& config, SubjectId subject,
                               const Lifecycle& lifecycle) override;
  void judge(std::span<const Event> events);
  void saw(SubjectId subject, Time time);
  void on(const Sample& sample);
  void on(const Span& span);
  void on(const Scalar& scalar);
  void on(const SourceNote& note);
  void on(const RunNote& note);
  void on_logged_pause(SubjectId subject, Time to, double seconds, SpanKind kind);
  void on(const Step& step);
  void on_complete_steps();
  void on_complete_step(const Step& step);
  void on_logged(const Step& step);
  void on_complete_logged_steps();
  void on_hangs(std::vector<HangFinding> findings);
  void report_endings();
  std::uint32_t world_of(SubjectId rank) const;
  void judge(const Step& step);
  void note_pause(const Step& step);
  void end(const std::vector<Ledger::Ended>& runs);
  std::uint32_t attempt_of(const AlertBook::Source& source) const;
  void on_verdict(const AlertBook::Source& source, Verdict verdict);
  void explain(const PendingCauses::Entry& entry);
  std::size_t names_known() const;

  RunBoth run_both_;
  Interner interner_;
  LastSeen last_seen_;
  IterationTracker iterations_;
  LoggedSteps logged_steps_{interner_};
  SystemHistory system_{interner_};
  SpanHistory spans_;
  CheckpointHistory checkpoints_{interner_};
  JobPauses pauses_{interner_, iterations_};
  CycleHistory cycles_;
  HangTracker hangs_;
  Time latest_ = kNoTime;
  Attribution attribution_{system_, spans_};
  History history_{interner_};
  TrainingMetrics metrics_{interner_};
  LatestSamples latest_samples_{interner_};
  ScalarMetrics scalar_metrics_{interner_};
  GpuMetrics gpu_metrics_{interner_};
  AlertBook book_{interner_};
  NodeJudge judge_{attribution_, latest_};
  Ledger ledger_{interner_, judge_};
  StepFeed step_feed_;
  std::vector<RunNote> notes_;    // whose events may not have come; keeps its memory
  std::uint64_t first_note_ = 0;  // the number of the first of them
  std::size_t next_note_ = 0;     // its place
  std::unique_ptr<RuleHost> host_;
  AnalysisHost analyses_;
  PendingCauses pending_causes_{interner_};
  JobTimes job_times_{interner_};
  bool causes_may_differ_ = true;   // events came since they were looked at
  std::uint32_t step_attempt_ = 0;  // of the step that the rules are about to judge; 0: of none
  std::size_t names_saved_ = 0;
};

}  // namespace trainwatch

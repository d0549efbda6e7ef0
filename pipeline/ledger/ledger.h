// SPDX-License-Identifier: Apache-2.0
// The accounts of all runs, by job: the one book that every surface reads.
//
// Takes steps, spans, notes and scalars in the order in which they are read, and the clock.
// Bounded: kMost runs; when there is no room, one that has ended is forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "pipeline/analysis/history/lost_interval.h"
#include "pipeline/analysis/job_ids.h"
#include "pipeline/analysis/job_times.h"
#include "pipeline/ledger/run_ledger.h"
#include "trainwatch/changed_subjects.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/run_note.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// The process that writes the timeline of a rank.
struct RankProcess {
  SubjectId rank = SubjectId::none;
  std::int64_t process = -1;
};

class Ledger {
 public:
  static constexpr std::size_t kMost = 256;

  // A run that is over.
  struct Ended {
    SubjectId job = SubjectId::none;
    Time at{};
    bool gone = false;  // nothing says how
  };

  // Both outlive it.
  Ledger(const Interner& interner, const LossJudge& judge) : interner_(interner), judge_(judge) {}

  // Returns true if the timeline of the rank had been closed and now continues in another file
  // before a training step has ended there: during an evaluation or a long first step.
  bool on(const Span& span);
  // As soon as it has ended, whatever waits may still be read.
  void on(const Step& step);
  // The same step when all its waits have been read.
  void on_complete(const Step& step);
  void on(const Scalar& scalar);
  // The size of the steps has changed, as this rank logs it.
  void on(SubjectId rank, const WorkChange& change);
  void on(const SourceNote& note);
  void on(const RunNote& note);
  void on(const CycleSummary& cycle);
  // What the run calls itself besides the name of its job.
  void name(SubjectId job, std::string_view id);
  // A log of this job was written to then, whatever that says.
  void written(SubjectId job, Time at);
  // See RunLedger::read().
  void read(SubjectId job, Time written);
  // A file of checkpoints was written during a step of this rank.
  void wrote_checkpoint(SubjectId rank, Time at);
  // Its process no longer exists.
  void gone(SubjectId rank);
  // One more second of the clock, which shows `now`. Returns the runs that have ended.
  // The input ends: `times` has the last of each job, which is now.
  std::vector<Ended> tick(Time now);
  std::vector<Ended> end_of_input(const JobTimes& times);

  // What became known of the ends of runs since the last call.
  std::vector<RunEnding> take_endings();

  // Whether no better steps are known of its job: iterations come from one source.
  bool takes(const Step& step);
  // Whether the run of this subject is known and has not ended.
  bool is_open(SubjectId subject);
  // Whether the run of this subject was over at `time`.
  bool is_over(SubjectId subject, Time time);

  // By the subject of the job.
  const std::map<SubjectId, RunLedger>& runs() const { return runs_; }
  // Empty (no wall time) if nothing is known of the job.
  Life life(SubjectId job) const;
  // Calls `use` with each LostInterval that was booked since the last call.
  template <class Use>
  void take_lost(Use&& use);
  // Calls `use` with each BookedIteration since the last call.
  template <class Use>
  void take_iterations(Use&& use);

  // Appends the families about the time of runs.
  void collect(std::vector<MetricFamily>& out) const;

  // Puts what changed since the last call, a row for each rank; `all`: everything.
  void save(StateRows& rows, bool all);
  // Only for a new one. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  RunLedger* run_of(SubjectId subject);
  RunLedger* find(SubjectId subject);
  RunLedger::Writer writer(SubjectId subject) const;
  void advance(SubjectId job, RunLedger& run, bool may_end = false);
  void note_all_ranks(const RunLedger& run);
  std::vector<Ended> newly_ended();
  bool load_rank(const SavedState& saved, std::string_view digits, std::string_view value);

  const Interner& interner_;
  const LossJudge& judge_;
  std::map<SubjectId, RunLedger> runs_;
  JobIds jobs_{interner_};
  RunLedger::Clock clock_;
  ChangedSubjects changed_ranks_;
  ChangedSubjects changed_runs_;
  std::map<SubjectId, WallTime> forgotten_;  // since the last save()
  bool ends_may_differ_ = false;             // since they were last taken
};

template <class Use>
void Ledger::take_iterations(Use&& use) {
  for (auto& [job, run] : runs_) {
    for (BookedIteration& iteration : run.take_iterations()) {
      iteration.job = job;
      use(iteration);
    }
  }
}

template <class Use>
void Ledger::take_lost(Use&& use) {
  for (auto& [job, run] : runs_) {
    run.take_booked([&use](const JobIterations::Booked& one) {
      double lost = 0;
      for (std::size_t i = 0; i < kLifeParts; ++i) {
        const auto part = static_cast<LifePart>(i);
        if (is_lost(part)) lost += one.parts[part];
      }
      if (lost > 0) use(LostInterval{one.rank, one.to, lost});
    });
  }
}

}  // namespace trainwatch

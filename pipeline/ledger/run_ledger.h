// SPDX-License-Identifier: Apache-2.0
// The account of one run: its attempts, how they ended, and the parts of its wall time, from its
// first evidence to now or its end. The parts do not overlap and leave nothing out.
//
// Event time decides what happened, the clock what is happening. Decides by event time and step
// number, never by the order in which the files of ranks are read: an attempt is booked when all
// of its ranks have left it, and the next one after it.
//
// What is booked only grows; the rest is open. Memory: O(ranks) of the last attempts, and a bounded
// number of open iterations.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/ledger/attempt.h"
#include "pipeline/ledger/end_verdict.h"
#include "pipeline/ledger/job_iterations.h"
#include "pipeline/ledger/stages.h"
#include "pipeline/ledger/wall_time.h"
#include "trainwatch/booked_iteration.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/event.h"
#include "trainwatch/life_part.h"
#include "trainwatch/run_ending.h"
#include "trainwatch/run_note.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// Starting, running, slow, stalled: it goes on.
enum class LifeState : std::uint8_t {
  starting,  // no step has ended
  running,
  slow,     // causes took over a fifth of the last minute
  stalled,  // nothing has come for longer than it is patient
  finished,
  failed,
  cancelled,
  gone,  // nothing says how it ended
  count_,
};
std::string_view to_string(LifeState state);
constexpr bool goes_on(LifeState state) {
  return state < LifeState::finished;
}

// The account as it is shown.
struct Life {
  LifeState state = LifeState::starting;
  Time since = kNoTime;  // it is in this state
  std::optional<AttemptEnd> end{};
  std::vector<AttemptInfo> attempts{};
  Time began_at{};
  Time until{};
  Time last_step_at = kNoTime;
  double wall = 0;           // seconds
  double rank_seconds = 0;   // wall time times the ranks of each attempt
  PartSeconds parts{};       // they sum to `wall`
  PartSeconds open{};        // of which these may still move
  PartSeconds rank_parts{};  // booked and open, times ranks
  std::uint64_t steps = 0;   // without redone ones
  std::uint64_t redone_steps = 0;
  std::int64_t step = kNoStep;   // the last one
  std::int64_t total_steps = 0;  // 0: not known
  double steps_per_second = 0;
  double seconds_per_step = 0;  // clean pace; 0: not known
  std::optional<double> eta_seconds{};
  double own_seconds = 0;
  double own_steps = 0;
  bool grew = true;  // false: a log that has not grown since it was found

  // Trouble, and what restarts cost.
  double lost() const { return parts.lost() + parts[LifePart::redone] + parts[LifePart::down]; }
  double goodput() const { return wall > 0 ? parts[LifePart::training] / wall : 0; }
};

class RunLedger {
 public:
  static constexpr std::size_t kAttemptsKept = 16;

  // The clock, which no live run is ahead of; a replay has none.
  struct Clock {
    Time now = kNoTime;        // kNoTime: the last evidence
    std::uint32_t second = 0;  // how many it has shown
    bool at_end = false;       // of the input: nothing follows
  };

  // A span, step or note of a rank, or of the job as a whole (SubjectId::none). `place`: of the
  // rank among all, < 0 where it has no number.
  struct Writer {
    SubjectId rank = SubjectId::none;
    std::int32_t place = -1;
  };
  void on(const Writer& writer, const Span& span, const Clock& clock);
  // Whether spans of this kind say anything.
  static bool counts(const Span& span);
  void on(const Writer& writer, const Step& step, const Clock& clock);
  // The step again, with waits that were read after it.
  void amend(const Writer& writer, const Step& step);
  void on(const Writer& writer, const RunNote& note, const Clock& clock);
  // The rank's files are closed, or go on in another one.
  void closed(const Writer& writer);
  // True: they had been closed.
  bool reopened(const Writer& writer);
  // What a profiler recorded: where steps come from nothing else, they lost what it shows.
  void on(const CycleSummary& cycle);
  void vanished(const Writer& writer);
  // A file of checkpoints was written.
  void wrote_checkpoint(Time at);
  void work(SubjectId rank, std::int64_t step, double per_second);
  void on(SubjectId rank, const WorkChange& change) { stages_.on(rank, change); }
  // A record of a log about this step, before it is known how long that took.
  void record(const Writer& writer, std::int64_t step, Time at, const Clock& clock);
  // How many it is to do; less than it has done is of another bar, as of files that are written.
  void total_steps(std::int64_t total);
  // What its environment or its files call it: a scheduler's job, an id of a run. Empty: nothing.
  void name(std::string_view id) { id_ = id; }
  const std::string& id() const { return id_; }

  // Closes and books what can be.
  // `may_end` false: looks for no end of the last attempt, which takes a look at each rank.
  void advance(const Clock& clock, const LossJudge* judge, bool may_end = true);
  // Calls `use` with the iterations that were booked since the last call, for the chart of ranks:
  // bounded.
  template <class Use>
  void take_booked(Use&& use) {
    for (const JobIterations::Booked& one : std::exchange(booked_now_, {})) use(one);
  }

  bool empty() const { return attempts_.empty(); }
  // The iterations of several ranks that were booked since the last call, without their job.
  std::vector<BookedIteration> take_iterations() { return std::exchange(iterations_now_, {}); }

  // When the last attempt ended, once all of its time is booked.
  std::optional<Time> ended() const;
  // A profiler has recorded what a GPU did.
  bool has_cycles() const { return !cycles_.empty(); }
  // It has ended since the last call.
  bool take_ended();
  // What became known of its end since the last call, or that it goes on after all.
  bool end_may_differ() const;
  // A replay waits for all that the files say, up to the end of the input.
  std::vector<RunEnding> take_endings(const Clock& clock);
  // Its log was written to then, whatever that says.
  void written(Time at);
  // All that was given to it since the last call was in a file, which was written to then.
  void read(Time written, const Clock& clock);
  // Other files of the job go on until then, as those of a sampler do: in a replay, that is now.
  void stood_still_until(Time at) { latest_ = std::max(latest_, at); }
  Time latest() const { return latest_; }  // evidence
  Life life(const Clock& clock) const;
  // The ranks of the last attempt; 0: not said.
  std::uint32_t world_size() const { return attempts_.empty() ? 0 : attempts_.back().info.ranks; }
  // What is booked, which only grows.
  const PartSeconds& booked() const { return parts_; }
  // The same over time.
  WallTime& wall_time() { return wall_time_; }
  // With what is open, as `life` has it.
  ColumnChart<PartSeconds> wall_time(const Life& life, const ChartRange& range) const;
  PartSeconds spent(Time from, Time to, const Life& life) const;
  const PartSeconds& booked_by_ranks() const { return rank_parts_; }
  std::uint64_t attempts_begun() const { return begun_; }
  // Its iterations come from one source: steps of this origin count. `weak`: as Step has it.
  bool takes(Origin origin, bool weak) const {
    return empty() || !origin_ || origin < *origin_ || (origin == *origin_ && (weak_ || !weak));
  }
  // A step of this origin makes what is known worthless.
  bool is_replaced_by(Origin origin, bool weak) const {
    return origin_ && (origin < *origin_ || (origin == *origin_ && weak_ && !weak));
  }

  // It has ended and is booked: the clock changes nothing.
  bool rests() const;

  // Everything but its ranks, which are rows of their own.
  void state(StateIo& io);
  void rank_state(StateIo& io, SubjectId rank);
  bool knows(SubjectId rank) const;
  // The state of all of its ranks may have changed since the last call.
  bool take_all_changed();
  // All ranks have been.
  void loaded();
  // Those of which not all is booked, and the last.
  const std::deque<Attempt>& attempts() const { return attempts_; }

 private:
  struct StepEnd {
    Time at{};
    std::uint32_t steps = 1;
    double own = -1;  // seconds of all of them by the log's own timer; < 0: it has none
  };
  struct Work {
    std::int64_t step = kNoStep;
    double per_second = 0;
  };

  static void add_evaluation(Attempt::Rank& rank, Time from, Time to);
  void on_evaluation(const Writer& writer, const Step& step);
  Attempt& begin_attempt(Time at, std::uint32_t world, const Clock& clock);
  struct Place {
    Attempt* attempt = nullptr;
    Attempt::Rank* rank = nullptr;
  };
  Place find(SubjectId rank);
  Place place_of(const Writer& writer, Time at, const Clock& clock);
  Place move_on(const Writer& writer, Time at, std::uint32_t world, const Clock& clock);
  void begin_by(Attempt& attempt, Time at, Nanos most = kGoneAfter);
  void begin_before_launch(Attempt& attempt, const Step& first, Time at);
  void process_began(const Writer& writer, const RunNote& note, const Clock& clock);
  void launched(const RunNote& note, const Clock& clock);
  void resume(Attempt& attempt);
  void add_first_record(Place own, const Step& next, const Clock& clock);
  void add_step(Place place, const Step& step, const Clock& clock);
  // What is reported of the attempt's end: by time, as its evidence may be read before or after it.
  std::optional<AttemptEnd> end_of(std::size_t place) const;
  std::optional<AttemptEnd> end_of_past(std::size_t place) const;
  RunEnding ending_of(const AttemptInfo& attempt, std::optional<AttemptEnd> end) const;
  void take_past_endings(std::vector<RunEnding>& endings);
  std::size_t place_of(const Attempt& attempt) const;
  // True: the next step says how many steps this one stands for.
  bool hold_first(Place own, const Step& step);
  void release_first(Place own, std::int64_t next, const Clock& clock);
  // Ended steps, as they are counted.
  struct StepCounts {
    std::uint64_t steps = 0;  // without redone ones
    std::uint64_t redone = 0;
    std::deque<StepEnd> ends;  // of the last

    void state(StateIo& io);
  };
  void count(const Attempt& attempt, const JobIteration& iteration, StepCounts& counts) const;
  StepCounts counts_with_open() const;
  void book(JobIterations::Booked one, double weight, std::uint32_t ranks);
  void lose_as_recorded(JobIterations::Booked& one) const;
  void book(const SpentTime& spent, std::uint32_t ranks);
  std::optional<Time> ending(const Attempt& attempt, const Clock& clock) const;
  std::optional<Time> shown_ending(const Attempt& attempt, const Clock& clock) const;
  bool is_old_log() const;
  bool may_finalize(std::size_t place, const Clock& clock) const;
  void finalize(std::size_t place, const Clock& clock, const LossJudge* judge);
  IterationContext context_of(const Attempt& attempt, const LossJudge* judge) const;
  StagePaces& paces_of(const Attempt& attempt);
  const StagePaces& paces_of(const Attempt& attempt) const;
  Time now(const Clock& clock) const;
  double seconds_per_step(const Attempt& last, const std::deque<StepEnd>& ends) const;
  double rate(const Life& life, const Attempt& last, const std::deque<StepEnd>& ends) const;
  LifeState state_of(const Attempt& attempt, const Clock& clock, Life& life) const;

  std::string id_;
  std::deque<Attempt> attempts_;  // the last ones: of all but the last, not all is booked
  std::vector<AttemptInfo> past_;
  StageHistory stages_;
  std::map<std::uint32_t, StagePaces> paces_;  // by the number of ranks: the regime
  StagePaces no_paces_;
  PartSeconds parts_;
  PartSeconds rank_parts_;
  Time began_ = kNoTime;
  Time latest_ = kNoTime;                    // evidence
  Time latest_read_ = kNoTime;               // of it, at the last read()
  Nanos behind_{};                           // the clock, where its times are those of another day
  std::optional<std::uint32_t> first_read_;  // the second of the clock
  bool grows_ = false;                       // there was more to read in a later one
  std::optional<Origin> origin_;
  bool weak_ = false;            // its steps are
  std::uint64_t begun_ = 0;      // attempts
  std::int64_t done_ = kNoStep;  // the last step that booked attempts have ended
  StepCounts counts_;
  std::int64_t total_ = 0;
  // The share of the last minute that causes took, decaying from 0; of it slow_known_ is known.
  double slow_ = 0;
  double slow_known_ = 0;
  EndEvidences end_evidences_;
  std::vector<Time> checkpoint_files_;
  std::map<SubjectId, Work> work_;  // that logs say, of the record that is read
  // What share of its time the last cycles of a profiler lost, by part: of those of several ranks
  // at the same time that of the rank which waited least for the others.
  struct CycleShare {
    Time from{};
    Time to{};
    PartSeconds share;
  };
  std::deque<CycleShare> cycles_;
  bool reported_over_ = false;
  std::optional<AttemptEnd> reported_end_;       // see take_endings()
  std::uint32_t reported_through_ = 0;           // attempts
  std::vector<BookedIteration> iterations_now_;  // of several ranks, since they were last taken
  std::vector<JobIterations::Booked> booked_now_;
  WallTime wall_time_;
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// The runs that are watched: each is a job with its ranks, its attempts, and what it is doing.
//
// A run has ended when the writers of all its timelines have closed them and nothing follows, and
// it is gone when nothing has come for a day, or for a minute
// if its process no longer exists. What its alerts are about ends with it. A step that
// comes later continues the run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/analysis/job_ids.h"
#include "pipeline/engine/alert_book.h"
#include "trainwatch/alert.h"
#include "trainwatch/changed_subjects.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

enum class RunState : std::uint8_t {
  starting,  // no rank has trained long enough for judging it
  running,
  slow,     // an alert at `warning` or above is about time that it loses
  stalled,  // it stands still
  finished,
  gone,
  count_,
};

std::string_view to_string(RunState state);

// When and why a run was over. (Not in Runs: clang 14 cannot default-construct it there.)
struct RunEnd {
  Time at{};
  EndedBecause why{};
  void state(StateIo& io);
};

class Runs {
 public:
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kAttemptsKept = 16;
  static constexpr Nanos kGoneAfter = std::chrono::hours(24);
  // Without a step after all timelines were closed. A writer that closes a file to begin the next
  // one writes to that at once.
  static constexpr std::uint32_t kQuietSeconds = 30;

  // The same where a process is known to be gone; it may be started again.
  static constexpr std::uint32_t kGoneSeconds = 60;

  // The process that writes the timeline of a rank.
  struct Writer {
    SubjectId rank = SubjectId::none;
    std::int64_t process = -1;
  };
  struct Attempt {
    std::uint32_t number = 1;
    Time begin{};
    Time end{};
    std::int64_t first_step = kNoStep;
    std::int64_t last_step = kNoStep;
    void state(StateIo& io);
  };
  struct Rank {
    std::uint32_t attempt = 1;
    std::int64_t last_step = kNoStep;
    Time last_end{};
    bool gone = false;            // its process
    bool closed = false;          // its timeline, since its last step
    double seconds_per_step = 0;  // lately; 0: not known yet
    void state(StateIo& io);
  };
  enum class Silence : std::uint8_t {
    none,    // a rank may go on
    closed,  // all timelines are
    gone,    // those that are not have lost their process
  };
  struct Run {
    RunState state = RunState::starting;
    Origin origin = Origin::log;  // of the steps that count: the best that there is
    Time since{};                 // event time
    SubjectMap<Rank> ranks;
    std::vector<Attempt> attempts;  // the last ones
    std::optional<RunEnd> end;
    std::uint32_t quiet = 0;  // seconds of the clock since the last step

    Time last_end() const;
    Silence silence() const;
    std::size_t closed() const;  // ranks
    void persist(StateIo& io);   // without its ranks
  };
  struct Ended {
    SubjectId job = SubjectId::none;
    RunEnd end;
  };

  explicit Runs(const Interner& interner) : interner_(interner) {}

  void on(const Step& step);
  // Whether no better steps are known of its job.
  bool counts(const Step& step);
  void on(const SourceNote& note);
  // Whether the timeline that has the span was closed and goes on in another file, although no
  // training step has come: it evaluates, or stands in its first step.
  bool goes_on(const Span& span) { return closed_ > 0 && reopen(span); }
  // Its process no longer exists.
  void gone(SubjectId rank);
  // One more second of the clock, which shows `now`. Returns the runs that have ended.
  std::vector<Ended> tick(Time now);
  // The same when nothing follows the newest event.
  std::vector<Ended> end_of_input(Time latest);
  // Says of each run what it is doing, as the alerts that fire have it.
  void judge(const AlertBook& book, const std::vector<RuleConfig>& rules);

  // Whether the run of this subject is known and has not ended.
  bool is_open(SubjectId subject);
  // Whether the run of this subject was over at `time`.
  bool is_over(SubjectId subject, Time time);

  const std::map<SubjectId, Run>& all() const { return runs_; }  // by the subject of the job

  // Puts what changed since the last call, a row for each rank; `all`: everything.
  void save(StateRows& rows, bool all);
  // Only for a new one. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  struct Found {
    Run* run = nullptr;    // null: its job has none
    Rank* rank = nullptr;  // null: unknown
  };

  Run* run_of(SubjectId subject);
  bool reopen(const Span& span);
  Found find(SubjectId rank);
  bool load_rank(const SavedState& saved, std::string_view digits, std::string_view value);
  void note_all_changed(const Run& run);
  static void count(Run& run, const Step& step);

  const Interner& interner_;
  std::map<SubjectId, Run> runs_;
  JobIds jobs_{interner_};
  ChangedSubjects changed_;  // ranks
  std::size_t closed_ = 0;   // ranks whose timeline is, of runs that have not ended
};

}  // namespace trainwatch

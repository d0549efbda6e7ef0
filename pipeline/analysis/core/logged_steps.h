// SPDX-License-Identifier: Apache-2.0
// Makes steps of what a job logs about itself: records of how long its iterations take, or of
// anything at all with a step and a time. For jobs that write neither timeline nor profiler traces.
//
// One tag of a rank is its clock: one that says how long an iteration takes or how many pass in a
// second, or else the time since the training began, or the first loss whose records have times, or
// a learning rate or a throughput where nothing says more; then an iteration takes the time since
// the record before by the steps between them, with all pauses in that time. Tags of epochs count
// something else and are never the clock. Where nothing at all says when, the steps of a loss have
// no length.
//
// If several files log the same loop, one of them is the clock: the first one read, until another
// has a better clock for later steps, or is still written to when this one is not. Records of
// epochs are the clock only if nothing else is. A tag that is no longer logged, such as a loss that
// is not printed any more, stops being the clock.
//
// A record gives one Step, of origin `log`: an iteration as long as the mean of the `steps` that it
// stands for. What it waited for data comes from a scalar of the same step, before or after.
//
// Steps of records without times are held until all that was written with them has been read: the
// last one ends when the file was written to, and the others before it, at the pace of the log.
//
// An attempt begins with a step number that goes back after the job was silent. Numbers that are
// back at the first one as soon as a record is due are those of the next epoch.
//
// O(log n) per scalar; a few KiB per rank. Alerts about these steps are identified by the step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/analysis/core/held_steps.h"
#include "pipeline/analysis/core/pace_memory.h"
#include "pipeline/analysis/core/work_meter.h"
#include "pipeline/analysis/core/work_stages.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class LoggedSteps {
 public:
  static constexpr std::size_t kMost = 65'536;  // ranks; further ones have no steps
  // Steps that are held, of all ranks together; more of them become longer records.
  static constexpr std::size_t kMostHeld = 131'072;

  explicit LoggedSteps(const Interner& interner) : interner_(interner) {}

  // Returns the step of the record that ends with this scalar, if it has one and is not held.
  std::optional<Step> on(const Scalar& scalar);
  // What had been written of this subject has been read. Returns the steps that were held. All but
  // the last of them are complete.
  std::vector<Step> read_to_end(SubjectId subject);
  // The same of all subjects whose steps are held.
  std::vector<SubjectId> holding() const;

  // The step that became complete with the last call: no scalar of it follows. Valid until the next
  // call.
  const std::vector<Step>& completed() const { return completed_; }
  // The change of work that the last scalar showed, if any.
  const std::optional<WorkChange>& work_change() const { return work_change_; }
  // The log says that the job of `subject` was started again.
  void launched(SubjectId subject);
  // The job has said how many steps it takes, and this one is the last.
  bool is_last(const Step& step) const;
  // Whether what the subject, or a rank of the job, logs is guessed at (Scalar::guessed).
  bool is_guessed(SubjectId subject) const;
  // The input has ended: completes all others.
  void finish();

  // Puts the ranks that changed since the last call, a row each; `all`: every one.
  void save(StateRows& rows, bool all);
  // Only for a new object. Leaves out subjects that are gone. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  // What a clock is made of, the better the later.
  enum class Source : std::uint8_t { none, numbers, rates, times, elapsed, durations, count_ };

  struct Figure {
    std::int64_t step = kNoStep;
    double seconds = 0;
    void state(StateIo& io);
  };
  struct Lane {
    Symbol clock = Symbol::none;
    Source source = Source::none;
    LaneId file{};                        // that has the clock
    bool of_epochs = false;               // its records are
    std::uint32_t without = 0;            // later steps that have records, and not this tag
    std::int64_t without_step = kNoStep;  // the last of them
    Figure iteration;                     // of the record that is being read
    std::int64_t span =
        0;              // the steps between its time and that of the record before; 0: not known
    Figure wait;        // the latest
    Time at = kNoTime;  // of the last record of the clock
    bool timed = false;
    std::int64_t number = kNoStep;  // of the last step
    double total = 0;               // steps that the job takes; 0: it did not say
    Time end = kNoTime;
    std::int64_t first = kNoStep;  // the number of the first step of the attempt
    std::uint32_t steps = 1;       // of the last step
    Nanos interval{};              // of the last record
    std::uint32_t attempt = 1;
    bool restarted = false;                // since the last step
    bool launched = false;                 // likewise, as the log says
    bool epoch = false;                    // has begun since the last step
    Time epoch_began = kNoTime;            // or the attempt
    std::int64_t epoch_steps = kNoStep;    // the last step of the epoch before
    std::int64_t number_before = kNoStep;  // the last step before the numbers went back
    bool guessed = false;                  // Scalar::guessed, of one of them
    double elapsed = 0;                    // of the last record that says it, in seconds
    PaceMemory pace;
    WorkMeter work;
    WorkStages stages;
    std::optional<Step> waiting;  // for its wait
    HeldSteps held;
    bool changed = false;  // since it was last saved

    bool is_weak() const { return of_epochs || source <= Source::numbers; }
    void forget_steps();
    bool begins_epoch(const Scalar& scalar, Time before) const;
    void state(StateIo& io);
  };

  Lane* lane_of(SubjectId subject);
  Source source_of(const Scalar& scalar) const;
  bool is_clock(Lane& lane, const Scalar& scalar) const;
  static void note_without(Lane& lane, const Scalar& scalar);
  static bool is_weak(const Scalar& scalar, Source source) {
    return scalar.of_epoch || source <= Source::numbers;
  }
  static bool is_better(const Lane& lane, const Scalar& scalar, Source source);
  static bool takes_over(const Lane& lane, const Scalar& scalar, Source source);
  static void read_clock(Lane& lane, const Scalar& scalar);
  static double seconds_of(Lane& lane, const Scalar& scalar, std::int64_t span, Nanos since);
  std::optional<Step> close(Lane& lane, SubjectId subject);
  static Pace pace_of(Lane& lane, const Step& step, double work);
  void complete(Lane& lane);
  static double work_of(Lane& lane, double seconds, double steps);

  const Interner& interner_;
  std::map<SubjectId, Lane> lanes_;
  std::vector<Step> completed_;
  std::optional<WorkChange> work_change_;
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Makes iterations of spans. The unit of training time is the iteration: from the end of one step
// to the end of the next one of the same mode. It holds the step, the wait for its batch, whether
// that lies inside the step (Keras, trainwatch.py) or before it (PyTorch), and what the loop does
// between steps: optimizer, logging, checkpoint. Steps of other modes in between are evaluation,
// which is not part of the iteration; so is what lies in a span of that kind.
//
// An attempt begins when the numbers of the steps go back, or with another process: the training
// was started again. Nothing is known of the time before its first step. Numbers that begin anew in
// the same process without a pause longer than the epoch are those of the next one: what is usual
// stays so, and the time before its first step belongs to that iteration.
//
// Waits and steps are joined by event time, whichever is read first: Keras has its waits in another
// file. A step is complete when a wait was read that ended after it, for all earlier ones were read
// by then; when too many steps wait for that, the oldest is taken as it is. Once many were, and no
// wait was ever read, there are none: steps are complete at once. Waits of several names
// ("dataset::GetNext" of each stage of TensorFlow's input pipeline, in threads of its own, and
// "IteratorGetNextOp" of the training) are told apart, and the smallest sum counts: what a stage
// waits, the training need not.
//
// One instance serves all ranks. State per (subject, origin): the last waits of each of `kNames`
// names and the incomplete steps, up to `kMostKept` each, and per mode the end of the last step and
// the pace (pace_memory.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/pace_memory.h"
#include "pipeline/analysis/core/waiting_steps.h"
#include "pipeline/analysis/core/work_stages.h"
#include "trainwatch/changed_entries.h"
#include "trainwatch/event.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class IterationTracker {
 public:
  // Takes a span of kind step, data_wait, evaluation, or of a phase of a step; other kinds are
  // ignored. Returns the step it closed, with the waits that were read so far.
  std::optional<Step> on(const Span& span);

  // The steps that became complete with the last call, with all their waits. Valid until the next.
  const std::vector<Step>& completed() const { return completed_; }
  // The input has ended: completes all others.
  void finish();
  // Calls `take` with the steps of each rank that wait although no wait of theirs was ever read;
  // there may be none to come. About kKeptOfAll steps in all.
  using TakeSteps = std::function<void(std::span<const Step>)>;
  void each_without_waits(const TakeSteps& take) const;

  // The work of an iteration has changed at this time on these ranks.
  void on(const WorkChange& change, Time at, const std::function<bool(SubjectId)>& is_one);

  // The latest process of each rank that has a timeline and says so.
  const std::map<SubjectId, std::int64_t>& processes() const { return processes_; }
  // Of the timeline of the rank, so far; 0: it has none.
  std::uint32_t attempt(SubjectId rank) const;
  // The end of the last step of the rank's timeline that was read; kNoTime: there was none.
  Time read_to(SubjectId rank) const;

  // Puts the lanes that changed since the last call, a row each; `all`: every one.
  void save(StateRows& rows, bool all);
  // Only for a new tracker. Leaves out subjects that are gone. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  static constexpr std::size_t kNames = 4;
  static constexpr std::size_t kMostChanges = 8;
  // Waits of a name that are remembered, and steps that wait for theirs: a rank without waits,
  // whose steps all wait for one, would else hold 50 KB.
  static constexpr std::size_t kMostKept = 256;      // of a lane,
  static constexpr std::size_t kFewestKept = 32;     // or fewer where there are many lanes,
  static constexpr std::size_t kKeptOfAll = 65'536;  // so that there are about so many in all
  // Steps after which a rank has no waits, if none came. A file may be read so far ahead of
  // another.
  static constexpr std::uint32_t kWithoutWaits = 1024;
  static constexpr std::size_t kModes = static_cast<std::size_t>(Mode::count_);

  struct Wait {
    Time start{};
    Time end{};
  };
  // Of one name.
  struct RecentWaits {
    Symbol name = Symbol::none;
    RingQueue<Wait> last;
    Time newest_end = kNoTime;

    // Keeps the last `most`.
    void add(const Span& wait, std::size_t most);
    Nanos within(Time start, Time end) const;
    void state(StateIo& io);
  };
  struct DatedChange {
    Time at{};
    WorkChange change;
    void state(StateIo& io) {
      io(at);
      io(change.ratio);
      io(change.begins);
      if (!is_possible(at) || !(change.ratio > 0)) io.fail();
    }
  };
  // The steps of one mode.
  struct Track {
    Time end = kNoTime;  // of the last step
    std::int64_t number = kNoStep;
    std::int64_t first = kNoStep;  // number of the attempt
    Nanos iteration{};             // the last one
    PaceMemory pace;
  };
  struct Lane {
    std::vector<RecentWaits> waits;
    WaitingSteps waiting;  // the oldest first
    std::map<Mode, Track> tracks;
    Mode latest = Mode::unknown;
    std::int64_t process = -1;
    std::int64_t process_before = -1;
    std::uint32_t attempt = 1;
    Time evaluated_to = kNoTime;      // end of the last step that was no training
    Time ended = kNoTime;             // the last step of any mode
    std::uint32_t without_waits = 0;  // steps that were complete before the first wait, at most
                                      // kWithoutWaits
    bool late_wait = false;           // see changes_a_step()
    bool changed = false;             // since it was last saved
    double work = 1;                  // of an iteration, to the usual one
    RingQueue<DatedChange> changes;   // that the steps have not reached
    // In spans since the last step:
    Nanos forward{};
    Nanos backward{};
    Nanos optimizer{};

    void add_wait(const Span& wait, std::size_t most);
    Nanos waited(const Step& step) const;
    bool changes_a_step(const Span& wait) const;
    bool waits_passed(Time time) const;
    bool has_no_waits() const { return waits.empty() && without_waits == kWithoutWaits; }
    void add_phase(const Span& phase);
    bool restarts(const Span& step) const;
    bool begins_epoch(const Span& step) const;
    void begin_attempt();
    void change_work(Time until);
    void state(StateIo& io);
  };

  using Key = std::pair<SubjectId, Origin>;

  Lane& lane_of(const Span& span);
  static Step close(Lane& lane, const Span& span);
  void note_process(const Key& key, const Lane& lane);
  void complete(Lane& lane, bool all);
  std::size_t most_kept() const;

  std::vector<Step> completed_;
  std::map<Key, Lane> lanes_;
  std::map<SubjectId, std::int64_t> processes_;  // of the lanes of timelines
  ChangedEntries<std::map<Key, Lane>> changed_;
  std::map<Key, Lane>::value_type* latest_ = nullptr;  // events of one file come together
};

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// The iterations of ranks in lock step: joined by step number, closed in order, cut into parts.
//
// The iteration of a job ends when its last rank ends it, and its length is what counts. What the
// rank that came last with its own work names (waits, pauses, marks) is taken off first, then what
// it worked longer than the others (`straggler`); the clean pace is learned from the rest, and what
// is beyond that is excess with the cause that grew. Durations are compared across ranks, never
// clocks. ../../docs/decisions/ledger.md has the algorithm and where it comes from.
//
// What is booked never changes. What is not is open: see provisional().
//
// A record of a log is an iteration of several steps by one rank. O(phases) per step of a rank;
// memory per open iteration, not per rank.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/ledger/barrier_finder.h"
#include "pipeline/ledger/clean_pace.h"
#include "pipeline/ledger/iteration.h"
#include "pipeline/ledger/stages.h"
#include "trainwatch/life_part.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Finds the cause of a loss that the steps do not name, in what else is known of the interval.
class LossJudge {
 public:
  struct Loss {
    SubjectId rank = SubjectId::none;  // that came last
    Time from{};
    Time to{};
    double seconds = 0;
    LifePart part = LifePart::unattributed;  // as far as the steps say
  };
  virtual ~LossJudge() = default;
  // nullopt: what it has to know may still be read.
  virtual std::optional<LifePart> judge(const Loss& loss) const = 0;
};

// What an attempt knows that its iterations do not.
struct IterationContext {
  Time begin{};                     // of the attempt
  double restore = 0;               // seconds of reading a checkpoint before its first step
  std::int64_t done = kNoStep;      // the last step that an earlier attempt ended
  bool numbers_repeat = false;      // step numbers begin anew with each epoch
  std::uint32_t ranks = 1;          // that are seen
  std::uint32_t world = 0;          // of the whole job; 0: not known
  bool done_without_steps = false;  // a log reports the end, but no steps
  std::span<const Time> checkpoint_files{};  // when such files were written
  const StageHistory* stages = nullptr;
  const LossJudge* judge = nullptr;  // null: the steps are all there is

  // In which stage the iteration was.
  StageHistory::Place place_of(const JobIteration& iteration) const {
    return stages->at(iteration.end);
  }
  // How many steps of this iteration an earlier attempt had ended.
  std::uint32_t old_steps(const JobIteration& iteration) const;
};

class JobIterations {
 public:
  static constexpr std::size_t kMostOpen = 4096;
  static constexpr auto kSettle = std::chrono::seconds(5);

  // What a rank said of an iteration, with when that began and ended.
  struct Ended {
    std::int64_t number = 0;  // of the iteration: steps that begin anew are numbered on
    std::int64_t first_step = 0;
    Time begin = kNoTime;  // of the step; kNoTime: not known
    Time end{};
    std::int32_t place = -1;  // of the rank among all; < 0: it stands alone
    std::uint32_t second = 0;
    RankIteration said;
  };
  // The usual work of the rank, kept by the caller.
  struct RankLevel {
    double work = 0;
    Barriers barriers = 0;
    bool known = false;
  };
  // An iteration that was cut into parts, for good.
  struct Booked {
    Time from{};
    Time to{};
    SubjectId rank = SubjectId::none;  // that came last
    std::int64_t last_step = 0;
    std::uint32_t steps = 1;
    PartSeconds parts;
  };

  explicit JobIterations(std::uint32_t ranks = 1) : ranks_(ranks) {}

  // False: the iteration is closed; the step is too late.
  bool add(const Ended& step, RankLevel& level);
  // A wait for the batch of this iteration was read after its step had ended.
  void amend_wait(SubjectId rank, std::int64_t number, double wait);

  // Null: none is open.
  const JobIteration* oldest() const { return open_.empty() ? nullptr : &open_.begin()->second; }
  std::size_t open_count() const { return open_.size(); }
  // Calls `use` with each that so many ranks have ended, which others may not have.
  template <class Use>
  void each_open(std::uint32_t ranks, Use&& use) const {
    for (const auto& [number, iteration] : open_) {
      if (iteration.seen >= ranks) use(iteration);
    }
  }
  std::size_t held_count() const { return held_.size(); }
  // Nothing more of it is expected. Returns it; valid until the next call.
  const JobIteration& close_oldest(const StagePaces& paces);
  // Cuts what is closed, up to `latest`, the time of the last evidence; `all`: everything. Appends
  // to `out`.
  void settle(StagePaces& paces, const IterationContext& context, Time latest, bool all,
              std::vector<Booked>& out);

  // Ranks do not end the same iterations together: each has an account of its own.
  bool is_apart() const { return apart_ >= kApartInRow; }
  // One of these for a rank that left the common account, from the last iteration that was closed.
  JobIterations split() const;
  // What ranks said of iterations that are not closed is in their next step.
  void drop_open() { open_.clear(); }

  // Parts of the time from what is booked to `until`, as far as one can say. `marks`: what the rank
  // has named since its last step. `ended`: nothing follows.
  struct Rest {
    Time until{};
    RankIteration marks;
    bool ended = false;
  };
  PartSeconds provisional(const StagePaces& paces, const IterationContext& context,
                          const Rest& rest) const;

  // The end of what is booked; kNoTime: nothing is.
  Time cut() const { return cut_; }
  void go_on_from(Time cut) { cut_ = last_end_ = cut; }
  // Silence up to so many seconds is no stall: it goes by the pace, and by the pauses that the job
  // has made before.
  double patience(const CleanPace& pace) const;
  // Of the last record or step.
  double due(const CleanPace& pace) const { return pace.clean() * last_scale_; }
  // The largest own time of a rank in each iteration, summed, and how many steps that is of: for
  // comparing nodes that different daemons watch.
  double own_seconds() const { return own_seconds_; }
  double own_steps() const { return own_steps_; }

  void state(StateIo& io);

 private:
  using ByNumber = std::map<std::int64_t, JobIteration>;
  static constexpr std::uint32_t kApartInRow = 10;
  static constexpr std::uint32_t kLongestWarmUp = 10;  // iterations

  struct Residual {
    double left = 0;
    PartSeconds named;
  };
  struct Growth {
    LifePart part = LifePart::unattributed;
    bool pause = false;  // between steps
  };
  // What an iteration took beyond what it names and the clean pace, and the parts that have it.
  struct Excess {
    double seconds = 0;
    bool clean = false;  // it is within the noise
    LifePart part = LifePart::unattributed;
    LifePart wait = LifePart::input_wait;  // that has its wait for input
  };

  ByNumber::iterator begin_iteration(std::int64_t number);
  void learn_noise(JobIteration& iteration);
  void learn_apart(const JobIteration& iteration, double length);
  bool learn_first(CleanPace& pace, std::uint32_t stage, const IterationContext& context, bool all);
  Residual residual(const CleanPace& pace, const JobIteration& iteration, double length) const;
  void learn_wait(CleanPace& pace, const JobIteration& iteration, double left) const;
  void begin_book(const CleanPace& pace, const IterationContext& context,
                  const JobIteration& iteration, PartSeconds& parts);
  bool settle_oldest(CleanPace& pace, const StageHistory::Place& place,
                     const IterationContext& context, bool all, std::vector<Booked>& out);
  CleanPace::Usual usual_of(const JobIteration& iteration) const;
  Growth growth(const CleanPace& pace, const IterationContext& context,
                const JobIteration& iteration, double excess) const;
  Excess excess_of(const CleanPace& pace, const IterationContext& context,
                   const JobIteration& iteration, const Residual& rest) const;
  bool judge(const IterationContext& context, const JobIteration& iteration, const Residual& rest,
             bool all, Excess& excess) const;
  void attribute(const IterationContext& context, const JobIteration& iteration,
                 const Excess& excess, PartSeconds& named) const;
  void stall(const CleanPace& pace, double length, PartSeconds& named);
  void note_booked(const JobIteration& iteration);
  double warm_up(double excess, PartSeconds& named, PartSeconds& parts);
  // The account of what is not booked yet.
  struct Unbooked {
    PartSeconds book;
    Time cut = kNoTime;
    bool warm = false;
  };
  void add_unbooked(const JobIteration& iteration, double due, const IterationContext& context,
                    Unbooked& unbooked) const;
  double clean_of_unbooked(const StagePaces& paces, const IterationContext& context,
                           std::uint32_t stage) const;
  double scale_of(const JobIteration& iteration) const;

  ByNumber open_;
  ByNumber held_;             // closed, not booked
  ByNumber::node_type free_;  // the last that was booked, for the next one: nothing is allocated
  BarrierFinder barriers_;
  std::uint32_t ranks_ = 1;
  std::int64_t closed_ = 0;  // the last number
  bool closed_any_ = false;
  bool front_learnt_ = false;  // the pace knows the oldest of held_
  std::uint32_t learnt_ = 0;   // so many of held_ were learnt together at first
  Time cut_ = kNoTime;
  Time last_end_ = kNoTime;
  std::deque<double> noises_;  // of the unluckiest rank, lately
  double common_ = 0;          // the level of own work over all ranks
  Barriers common_barriers_ = 0;
  bool common_known_ = false;
  double skew_ = -1;  // the smallest distance between the ends of ranks; < 0: not known
  std::uint32_t apart_ = 0;
  std::uint32_t warming_ = 0;
  bool warm_ = false;
  std::uint64_t booked_ = 0;  // steps
  double work_ = 1;           // units in the last step
  double longest_ = 0;        // iteration that was no stall
  double last_scale_ = 1;     // steps times work of the last record
  double own_seconds_ = 0;
  double own_steps_ = 0;
};

}  // namespace trainwatch

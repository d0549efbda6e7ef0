// SPDX-License-Identifier: Apache-2.0
// One attempt of a run: its ranks, the iterations they make together, and how it ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/ledger/job_iterations.h"
#include "trainwatch/event.h"
#include "trainwatch/release_memory.h"
#include "trainwatch/run_ending.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

// What is shown of an attempt.
struct AttemptInfo {
  std::uint32_t number = 1;
  Time began{};
  Time ended = kNoTime;  // kNoTime: still running, or not yet booked
  std::int64_t first_step = kNoStep;
  std::int64_t last_step = kNoStep;
  std::uint32_t ranks = 0;  // of the whole job; 0: not known
  std::optional<AttemptEnd> end{};
  Time step_began{};  // the latest step

  void state(StateIo& io);
};

class Attempt {
 public:
  struct Rank {
    Time began{};
    Time activity{};
    Time last_end = kNoTime;
    std::int64_t number = kNoStep;  // of its last step
    std::int64_t base = 0;          // added to its numbers, which begin anew with each epoch
    std::int32_t place = 0;         // among the ranks of the job
    std::int32_t solo = -1;         // its own account; < 0: the common one
    std::int64_t record = kNoStep;  // the first, which does not say how long its step took
    Time record_at{};
    Time evaluated_to{};  // end of its last evaluation after its last step
    // The first of a log, until the next one says how many steps a record stands for.
    std::optional<Step> first{};
    std::int64_t begun = kNoStep;  // the step in progress; kNoStep: unknown
    bool ended = false;            // its process said so
    bool closed = false;           // its files are
    bool vanished = false;         // its process no longer exists
    bool lost = false;             // nobody waits for it until it speaks again
    JobIterations::RankLevel level;
    RankIteration next;  // what it has said since its last step

    void state(StateIo& io);
  };

  explicit Attempt(std::uint32_t number = 1, Time began = {}, std::uint32_t world = 0);

  AttemptInfo info;
  Time step_began = kNoTime;  // the latest: an end that was reported before it was none
  Time progress{};            // the last step, phase or mark
  Time evidence{};            // the last that was seen of it
  double restore = 0;         // seconds of reading a checkpoint before its first step
  std::int64_t top = kNoStep;
  bool numbers_repeat = false;
  bool finalized = false;    // all of its time is booked
  std::uint32_t opened = 0;  // the second of the clock, counted

  Rank* find(SubjectId rank) { return ranks_.find(rank); }
  // Calls `use` with each rank, which may change.
  template <class Use>
  void each_rank(Use&& use) {
    for (auto& [subject, rank] : ranks_) use(rank);
  }
  const SubjectMap<Rank>& ranks() const { return ranks_; }
  Rank& join(SubjectId rank, std::int32_t place, Time at);
  void saw(Time at) { evidence = std::max(evidence, at); }
  void moved(Time at) {
    saw(at);
    progress = std::max(progress, at);
  }
  // Its process has ended, or is gone.
  void leave(Rank& rank);
  void come_back(Rank& rank);
  // All ranks of the job have, as far as is known how many these are.
  bool all_left() const { return info.ranks > 0 && seen_ranks() >= info.ranks && live_ == 0; }
  bool all_ended() const;
  bool all_closed() const;
  bool all_vanished() const;
  // The only rank that ended without saying so while the others said how they ended: they lost
  // their connection to it. kNoRank if there is no such rank, or more than one.
  std::int32_t silent_rank() const;

  // The rank has ended a step, in which it said what `said` has. False: too late.
  bool add(Rank& rank, JobIterations::Ended step);
  void amend_wait(SubjectId rank, std::int64_t number, double wait);
  void note_number(std::int64_t first, std::int64_t last);
  bool has_steps() const { return info.last_step != kNoStep; }
  // Ranks whose state changed without their doing; forgets them.
  bool take_all_changed() { return std::exchange(all_changed_, false); }
  std::uint32_t seen_ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }

  // Calls `closed` with each iteration that is complete now; `all`: of which nothing more is
  // expected.
  template <class Closed>
  void close(const StagePaces& paces, std::uint32_t second, bool all, Closed&& closed);
  // Calls `use` with each iteration that all ranks which are heard have ended, but that is not
  // closed, as others may follow.
  template <class Use>
  void each_open(Use&& use) const {
    if (solos_.empty()) common_.each_open(std::max(live_, 1U), use);
  }
  // Cuts what is closed into parts. Calls `book` with each and with its weight.
  template <class Book>
  void settle(StagePaces& paces, const IterationContext& context, bool all, Book&& book);
  PartSeconds provisional(const StagePaces& paces, const IterationContext& context, Time until,
                          bool ended) const;
  double patience(const StagePaces& paces) const { return first().patience(latest_pace(paces)); }
  double due(const StagePaces& paces) const { return first().due(latest_pace(paces)); }
  Time cut() const;
  // Reopens a finalized attempt.
  void go_on_from(Time cut);
  std::size_t held() const { return first().held_count() + first().open_count(); }
  double own_seconds() const;
  double own_steps() const;

  void state(StateIo& io);
  void rank_state(StateIo& io, SubjectId subject) { io(ranks_[subject]); }
  void count_ranks();

 private:
  struct Solo {
    JobIterations iterations;
    StagePaces paces;
    void state(StateIo& io) {
      io(iterations);
      io(paces);
    }
  };
  static constexpr std::uint32_t kLate = 600;  // seconds after which nobody waits for a rank
  static constexpr std::uint32_t kJoin = 15;   // for ranks that nobody has heard of

  const JobIterations& first() const {
    return solos_.empty() ? common_ : solos_.front().iterations;
  }
  const CleanPace& latest_pace(const StagePaces& common) const {
    return (solos_.empty() ? common : solos_.front().paces).latest();
  }
  std::uint32_t expected(std::int64_t number);
  bool is_complete(const JobIteration& iteration, std::uint32_t second);
  void lose(std::int64_t number);
  void split();

  SubjectMap<Rank> ranks_;
  bool all_changed_ = false;
  std::uint32_t live_ = 0;          // ranks that have not left and are not lost
  std::vector<std::int64_t> left_;  // last numbers of those that have left, the least last
  JobIterations common_;
  std::vector<Solo> solos_;                    // one for each rank, where they are not in lock step
  std::vector<JobIterations::Booked> booked_;  // reused
};

template <class Closed>
void Attempt::close(const StagePaces& paces, std::uint32_t second, bool all, Closed&& closed) {
  if (!solos_.empty()) {
    for (Solo& solo : solos_) {
      const bool counts = &solo == &solos_.front();
      while (solo.iterations.oldest() != nullptr) {
        const JobIteration& iteration = solo.iterations.close_oldest(solo.paces);
        if (counts) closed(iteration);
      }
    }
    return;
  }
  while (const JobIteration* const oldest = common_.oldest()) {
    if (!all && !is_complete(*oldest, second)) return;
    closed(common_.close_oldest(paces));
    if (common_.is_apart() && ranks_.size() > 1) return split();
  }
}

template <class Book>
void Attempt::settle(StagePaces& paces, const IterationContext& context, bool all, Book&& book) {
  booked_.clear();
  const bool together = solos_.empty();
  common_.settle(paces, context, evidence, all || !together, booked_);
  for (const JobIterations::Booked& one : booked_) book(one, 1.0);
  const double weight = 1.0 / static_cast<double>(solos_.size());
  for (Solo& solo : solos_) {
    booked_.clear();
    solo.iterations.settle(solo.paces, context, evidence, all, booked_);
    for (const JobIterations::Booked& one : booked_) book(one, weight);
  }
  constexpr std::size_t kUsual = 64;  // more of them are booked while an old file is read
  if (booked_.capacity() > kUsual) release_memory(booked_);
}

}  // namespace trainwatch

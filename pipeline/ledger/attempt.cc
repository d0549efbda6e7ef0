// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/attempt.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace trainwatch {

void AttemptInfo::state(StateIo& io) {
  io(number);
  io(began);
  io(ended);
  io(first_step);
  io(last_step);
  io(ranks);
  io(end);
  io(step_began);
  if (!is_possible(began) || !is_possible(ended)) io.fail();
}

void Attempt::Rank::state(StateIo& io) {
  io(began);
  io(activity);
  io(last_end);
  io(number);
  io(base);
  io(place);
  io(solo);
  io(record);
  io(record_at);
  io(evaluated_to);
  io(first);
  io(begun);
  io(ended);
  io(closed);
  io(vanished);
  io(lost);
  io(level);
  io(next);
  if (!is_possible(began) || !is_possible(activity) || !is_possible(last_end) ||
      !is_possible(evaluated_to)) {
    io.fail();
  }
}

Attempt::Attempt(std::uint32_t number, Time began, std::uint32_t world)
    : progress(began), evidence(began) {
  info.number = number;
  info.began = began;
  info.ranks = world;
}

Attempt::Rank& Attempt::join(SubjectId subject, std::int32_t place, Time at) {
  Rank& rank = ranks_[subject];
  rank.began = rank.activity = at;
  rank.place = place < 0 ? static_cast<std::int32_t>(ranks_.size()) - 1 : place;
  rank.next.rank = subject;
  ++live_;
  if (!solos_.empty()) {
    rank.solo = static_cast<std::int32_t>(solos_.size());
    solos_.push_back({common_.split(), {}});
    solos_.back().iterations.go_on_from(first().cut());
  }
  return rank;
}

void Attempt::leave(Rank& rank) {
  if (!rank.lost) --live_;
  rank.lost = false;
  if (rank.number == kNoStep) return;
  const std::int64_t last = rank.base + rank.number;
  left_.insert(std::ranges::lower_bound(left_, last, std::greater<>()), last);
}

void Attempt::come_back(Rank& rank) {
  ++live_;
  if (rank.number == kNoStep) return;
  const auto known = std::ranges::find(left_, rank.base + rank.number);
  if (known != left_.end()) left_.erase(known);
}

bool Attempt::all_ended() const {
  return !ranks_.empty() &&
         std::ranges::all_of(ranks_, [](const auto& entry) { return entry.second.ended; });
}

bool Attempt::all_closed() const {
  return !ranks_.empty() && std::ranges::all_of(ranks_, [](const auto& entry) {
    return entry.second.closed || entry.second.ended;
  });
}

bool Attempt::all_vanished() const {
  bool any = false;
  for (const auto& [subject, rank] : ranks_) {
    if (!rank.vanished && !rank.closed && !rank.ended) return false;
    any = any || rank.vanished;
  }
  return any;
}

void Attempt::note_number(std::int64_t first, std::int64_t last) {
  if (info.first_step == kNoStep) info.first_step = first;
  info.last_step = last;
  top = std::max(top, last);
}

bool Attempt::add(Rank& rank, JobIterations::Ended step) {
  if (rank.solo >= 0) {
    step.place = -1;
    return solos_[static_cast<std::size_t>(rank.solo)].iterations.add(step, rank.level);
  }
  return common_.add(step, rank.level);
}

void Attempt::amend_wait(SubjectId subject, std::int64_t number, double wait) {
  Rank* const rank = ranks_.find(subject);
  if (rank == nullptr) return;
  JobIterations& own =
      rank->solo >= 0 ? solos_[static_cast<std::size_t>(rank->solo)].iterations : common_;
  own.amend_wait(subject, rank->base + number, wait);
}

// Ranks that will end this iteration: those that live, and those that left after it.
std::uint32_t Attempt::expected(std::int64_t number) {
  while (!left_.empty() && left_.back() < number) left_.pop_back();
  return live_ + static_cast<std::uint32_t>(left_.size());
}

// By counts and by seconds of the clock, never by what time events of other ranks have.
bool Attempt::is_complete(const JobIteration& iteration, std::uint32_t second) {
  const std::uint32_t waited = second - iteration.opened;
  const bool known = iteration.seen >= std::max(expected(iteration.number), 1U);
  // Files of other ranks may not have been read yet, and nothing but the job's size says so.
  const bool all_heard = (info.ranks > 0 && seen_ranks() >= info.ranks) ||
                         common_.cut() != kNoTime || common_.held_count() > 0 || waited >= kJoin;
  if (known && all_heard) return true;
  if (common_.open_count() <= JobIterations::kMostOpen && waited < kLate) return false;
  lose(iteration.number);
  return true;
}

// Ranks that have not ended it are not waited for until they speak again.
void Attempt::lose(std::int64_t number) {
  all_changed_ = true;
  for (auto& [subject, rank] : ranks_) {
    const bool behind = rank.number == kNoStep || rank.base + rank.number < number;
    if (rank.ended || rank.lost || !behind) continue;
    rank.lost = true;
    --live_;
  }
}

// The ranks do not march in step: from here on each has its own account.
void Attempt::split() {
  all_changed_ = true;
  for (auto& [subject, rank] : ranks_) {
    rank.solo = static_cast<std::int32_t>(solos_.size());
    solos_.push_back({common_.split(), {}});
  }
  common_.drop_open();
}

PartSeconds Attempt::provisional(const StagePaces& paces, const IterationContext& context,
                                 Time until, bool ended) const {
  JobIterations::Rest rest{until, {}, ended};
  for (const auto& [subject, rank] : ranks_) {
    if (rank.next.named() >= rest.marks.named()) rest.marks = rank.next;
  }
  if (solos_.empty()) return common_.provisional(paces, context, rest);
  PartSeconds sum;
  const double weight = 1.0 / static_cast<double>(solos_.size());
  for (const Solo& solo : solos_)
    sum.add(solo.iterations.provisional(solo.paces, context, rest), weight);
  return sum;
}

Time Attempt::cut() const {
  Time cut = common_.cut();
  for (const Solo& solo : solos_) cut = std::max(cut, solo.iterations.cut());
  return cut;
}

void Attempt::go_on_from(Time cut) {
  common_.go_on_from(cut);
  for (Solo& solo : solos_) solo.iterations.go_on_from(cut);
  finalized = false;
  info.ended = kNoTime;
}

std::int32_t Attempt::silent_rank() const {
  std::int32_t silent = kNoRank;
  bool any_ended = false;
  for (const auto& [subject, rank] : ranks_) {
    any_ended = any_ended || rank.ended;
    if (rank.ended) continue;
    if (silent != kNoRank) return kNoRank;
    silent = rank.place;
  }
  return any_ended ? silent : kNoRank;
}

double Attempt::own_seconds() const {
  double sum = common_.own_seconds();
  for (const Solo& solo : solos_) sum += solo.iterations.own_seconds();
  return sum;
}

double Attempt::own_steps() const {
  double sum = common_.own_steps();
  for (const Solo& solo : solos_) sum += solo.iterations.own_steps();
  return sum;
}

void Attempt::count_ranks() {
  live_ = 0;
  for (const auto& [subject, rank] : ranks_) {
    if (!rank.ended && !rank.lost) ++live_;
  }
}

void Attempt::state(StateIo& io) {
  io(info);
  io(step_began);
  io(progress);
  io(evidence);
  io(restore);
  io(top);
  io(numbers_repeat);
  io(finalized);
  io(opened);
  io(left_);
  io(common_);
  io(solos_);
  if (!is_possible(step_began) || !is_possible(progress) || !is_possible(evidence)) io.fail();
}

}  // namespace trainwatch

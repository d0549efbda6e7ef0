// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/stages.h"

#include <algorithm>

namespace trainwatch {

void StageHistory::begin_attempt() {
  rank_.reset();
  if (!changes_.empty() && !changes_.back().sure) changes_.pop_back();
}

void StageHistory::on(SubjectId rank, const WorkChange& change) {
  if (rank_.value_or(rank) != rank) return;
  const bool pending = !changes_.empty() && !changes_.back().sure;
  if (!change.begins && change.ratio == 1) {
    if (pending) changes_.pop_back();
    return;
  }
  rank_ = rank;
  if (!pending) {
    if (changes_.size() == kMost) {
      changes_.pop_front();
      ++forgotten_;
    }
    changes_.push_back({change.before, change.first});
  }
  Change& last = changes_.back();
  last.sure = change.begins;
  // A smaller size does not make a step late.
  if (!change.begins) last.work = std::max(change.ratio, 1.0);
}

StageHistory::Place StageHistory::at(Time end) const {
  Place place{forgotten_};
  for (const Change& change : changes_) {
    if (end <= change.before) break;
    if (!change.sure || end < change.first) {
      place.work = change.work;
      break;
    }
    ++place.stage;
  }
  return place;
}

void StageHistory::Change::state(StateIo& io) {
  io(before);
  io(first);
  io(work);
  io(sure);
  if (!is_possible(before) || !is_possible(first) || !(work >= 1)) io.fail();
}

void StageHistory::state(StateIo& io) {
  io(changes_);
  io(forgotten_);
  io(rank_);
  if (changes_.size() > kMost) io.fail();
}

CleanPace& StagePaces::of(std::uint32_t stage) {
  if (paces_.size() == kMost && !paces_.contains(stage)) paces_.erase(paces_.begin());
  return paces_[stage];
}

const CleanPace& StagePaces::latest() const {
  static const CleanPace none;
  if (paces_.empty()) return none;
  for (auto entry = paces_.rbegin(); entry != paces_.rend(); ++entry) {
    if (entry->second.known()) return entry->second;
  }
  return paces_.rbegin()->second;
}

const CleanPace* StagePaces::find(std::uint32_t stage) const {
  const auto known = paces_.find(stage);
  return known == paces_.end() ? nullptr : &known->second;
}

void StagePaces::state(StateIo& io) {
  io(paces_);
  if (paces_.size() > kMost) io.fail();
}

}  // namespace trainwatch

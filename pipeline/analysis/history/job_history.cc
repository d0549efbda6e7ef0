// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/job_history.h"

#include <algorithm>
#include <cmath>

namespace trainwatch {

std::string_view to_string(HistoryMark::Kind kind) {
  constexpr std::string_view kNames[] = {"evaluation", "checkpoint", "attempt"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(HistoryMark::Kind::count_));
  return kNames[static_cast<std::size_t>(kind)];
}

void JobHistory::on(const Step& step, std::size_t most) {
  if (!step.is_training() || step.iteration() <= Nanos{}) return;
  if (step.origin > origin_) return;
  if (origin_ != step.origin && first_end_ != kNoTime) {  // steps are not counted twice
    seconds_.clear();
    quarters_.clear();
    whole_.clear();
    ranks_.clear();
    rank_slots_.clear();
    slots_by_rank_.clear();
    log_.clear();
  }
  origin_ = step.origin;
  const Time end = step.end();
  if (!take(end)) return;
  first_end_ = first_end_ == kNoTime ? end : std::min(first_end_, end);
  const StepFigures figures(step);
  for (Steps* level : {&seconds_, &quarters_, &whole_}) {
    if (StepColumn* const column = level->at(end)) column->add(figures);
  }
  const std::size_t slot = rank_slot(step.subject);
  if (slot != kNoSlot) {
    ranks_.at(end)->iterations.add(slot, to_seconds(step.iteration()), step.steps);
  }
  if (step.evaluation > Nanos{})
    mark({HistoryMark::Kind::evaluation, step.begin, step.begin + step.evaluation});
  if (step.restarts) mark({HistoryMark::Kind::attempt, step.start, step.start});
  log_.add(step, most);
}

void JobHistory::on_load(const Span& load) {
  if (load.origin != origin_) return;
  for (Steps* level : {&seconds_, &quarters_, &whole_}) {
    if (level->empty()) continue;  // waits alone are no training
    if (StepColumn* const column = level->at(load.end())) column->add_load(load.duration);
  }
}

// In the column in which its iteration ended, which may come later: when it is known whether it
// waited.
void JobHistory::on(const LostInterval& lost) {
  const std::size_t slot = rank_slot(lost.rank);
  if (slot == kNoSlot) return;
  if (RankColumn* const column = ranks_.at(lost.end)) column->lose(slot, lost.seconds);
}

std::size_t JobHistory::rank_slot(SubjectId rank) {
  if (const std::size_t* const known = slots_by_rank_.find(rank)) return *known;
  if (rank_slots_.size() == kMostRanks) {
    ++dropped_;
    return kNoSlot;
  }
  slots_changed_ = true;
  rank_slots_.emplace_back(rank);
  return slots_by_rank_[rank] = rank_slots_.size() - 1;
}

std::size_t JobHistory::slot_of(SeriesId series) {
  const auto known = std::ranges::find(series_slots_, std::optional(series));
  if (known != series_slots_.end()) return static_cast<std::size_t>(known - series_slots_.begin());
  if (series_slots_.size() == kMostSeries) {
    ++dropped_;
    return kNoSlot;
  }
  slots_changed_ = true;
  series_slots_.emplace_back(series);
  return series_slots_.size() - 1;
}

void JobHistory::on(const Sample& sample, std::size_t kind, std::size_t slot) {
  if (!std::isfinite(sample.value) || sample.at < Time{} || !take(sample.at)) return;
  const double percent = std::clamp(sample.value, 0.0, 100.0);
  const auto bin = static_cast<std::size_t>(percent * static_cast<double>(kBins) / 100);
  ++percents_[kind][std::min(bin, kBins - 1)];
  usage_.at(sample.at)->add(slot, percent);
}

// Ranks mark the same, and a checkpoint of several files is one.
void JobHistory::mark(const HistoryMark& mark) {
  constexpr std::size_t kCompared = 16;
  if (!take(mark.end)) return;
  slots_changed_ = true;
  const std::size_t compared = std::min(kCompared, marks_.size());
  for (auto known = marks_.rbegin();
       known != marks_.rbegin() + static_cast<std::ptrdiff_t>(compared); ++known) {
    if (known->kind != mark.kind || mark.start > known->end || known->start > mark.end) continue;
    known->start = std::min(known->start, mark.start);
    known->end = std::max(known->end, mark.end);
    return;
  }
  marks_.push_back(mark);
  if (marks_.size() > kMostMarks) marks_.pop_front();
}

// False: it is too far from all others.
bool JobHistory::take(Time time) {
  const bool far = latest_ != kNoTime && std::max(time - latest_, latest_ - time) > kFarthest;
  if (far) ++dropped_;
  if (!far) latest_ = std::max(latest_, time);
  return !far;
}

void JobHistory::save(StateRows& rows, const std::string& prefix, bool all) {
  seconds_.save(rows, prefix + "seconds/", all);
  quarters_.save(rows, prefix + "quarters/", all);
  whole_.save(rows, prefix + "whole/", all);
  ranks_.save(rows, prefix + "ranks/", all);
  usage_.save(rows, prefix + "usage/", all);
  log_.save(rows, prefix + "steps/", all);
  scalars_.save(rows, prefix + "scalars/", all);
  if (slots_changed_ || all) rows.put(prefix + "slots", [this](StateIo& io) { slots_state(io); });
  rows.put(prefix + "totals", [this](StateIo& io) { totals_state(io); });
  slots_changed_ = false;
}

void JobHistory::remove(StateRows& rows, const std::string& prefix) {
  seconds_.remove(rows, prefix + "seconds/");
  quarters_.remove(rows, prefix + "quarters/");
  whole_.remove(rows, prefix + "whole/");
  ranks_.remove(rows, prefix + "ranks/");
  usage_.remove(rows, prefix + "usage/");
  log_.remove(rows, prefix + "steps/");
  scalars_.remove(rows, prefix + "scalars/");
  rows.remove(prefix + "slots");
  rows.remove(prefix + "totals");
}

bool JobHistory::load(const SavedState& saved, const std::string& prefix) {
  return load_row(saved, prefix + "totals", [this](StateIo& io) { totals_state(io); }) &&
         load_row(saved, prefix + "slots", [this](StateIo& io) { slots_state(io); }) &&
         seconds_.load(saved, prefix + "seconds/") && quarters_.load(saved, prefix + "quarters/") &&
         whole_.load(saved, prefix + "whole/") && ranks_.load(saved, prefix + "ranks/") &&
         usage_.load(saved, prefix + "usage/") && log_.load(saved, prefix + "steps/") &&
         scalars_.load(saved, prefix + "scalars/");
}

void JobHistory::totals_state(StateIo& io) {
  io(origin_);
  io(first_end_);
  io(latest_);
  io(percents_);
  io(dropped_);
  if (origin_ >= Origin::count_ || !is_possible(first_end_) || !is_possible(latest_)) io.fail();
}

void JobHistory::slots_state(StateIo& io) {
  io(rank_slots_);
  io(series_slots_);
  io(marks_);
  if (rank_slots_.size() > kMostRanks || series_slots_.size() > kMostSeries ||
      marks_.size() > kMostMarks) {
    io.fail();
  }
  slots_by_rank_.clear();
  for (std::size_t slot = 0; slot < rank_slots_.size(); ++slot) {
    if (rank_slots_[slot]) slots_by_rank_[*rank_slots_[slot]] = slot;
  }
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/job_pauses.h"

#include <algorithm>

namespace trainwatch {

void JobPauses::mark(const Span& span) {
  if (span.origin != Origin::timeline || span.duration <= Nanos{}) return;
  paused(span.subject, span.start, span.end());
}

void JobPauses::paused(SubjectId rank, Time from, Time to) {
  RingQueue<Pause>& pauses = jobs_[interner_.subjects[rank].job].pauses;
  if (pauses.size() == kMost) pauses.pop_front();
  pauses.push_back({rank, from, to}, kMost);
  changed_ = true;
}

void JobPauses::reached(SubjectId rank, Time time) {
  if (latest_reached_ == nullptr || latest_ != rank) {
    latest_ = rank;
    Job& job = jobs_[interner_.subjects[rank].job];
    latest_reached_ = &job.reached.try_emplace(rank, kNoTime).first->second;
  }
  *latest_reached_ = std::max(*latest_reached_, time);
  changed_ = true;
}

const JobPauses::Job* JobPauses::find(SubjectId rank) const {
  const auto found = jobs_.find(interner_.subjects[rank].job);
  return found == jobs_.end() ? nullptr : &found->second;
}

// Ranks save and evaluate one beside another, or one after another: the time that any of them did.
Nanos JobPauses::of_others(SubjectId rank, Time from, Time to) const {
  const Job* const job = find(rank);
  if (job == nullptr) return {};
  // A rank may say of one pause twice, that it saves and that it does not train.
  Nanos most{};
  Time counted = from;
  for (std::size_t i = 0; i < job->pauses.size(); ++i) {
    const Pause& pause = job->pauses[i];
    const Time begin = std::max(pause.from, counted);
    const Time end = std::min(pause.to, to);
    if (pause.rank == rank || end <= begin) continue;
    most += end - begin;
    counted = end;
  }
  return most;
}

// Ranks of which nothing was read yet: their files may be read after those of others.
void JobPauses::find_ranks() {
  for (; subjects_ < interner_.subjects.size(); ++subjects_) {
    const auto id = static_cast<SubjectId>(subjects_);
    const Subject& subject = interner_.subjects[id];
    if (subject.rank == kNoRank) continue;
    Job& job = jobs_[subject.job];
    if (job.reached.try_emplace(id, kNoTime).second) job.all = kNoTime;
  }
}

bool JobPauses::passed(SubjectId rank, Time time) {
  find_ranks();
  const auto found = jobs_.find(interner_.subjects[rank].job);
  if (found == jobs_.end()) return true;
  Job& job = found->second;
  if (time <= job.all) return true;
  Time earliest = Time::max();
  for (const auto& [other, reached] : job.reached) {
    if (other != rank) earliest = std::min(earliest, reached);
  }
  job.all = earliest == Time::max() ? kNoTime : std::min(earliest, job.reached[rank]);
  return earliest >= time;
}

bool JobPauses::has_others(SubjectId rank) {
  find_ranks();
  const Job* const job = find(rank);
  return job != nullptr && job->reached.size() > (job->reached.contains(rank) ? 1U : 0U);
}

void JobPauses::state(StateIo& io) {
  io(jobs_);
  if (!io.is_loading()) return;
  // Of jobs that are gone, nothing is left but the name.
  std::erase_if(jobs_, [](const auto& job) { return job.second.reached.empty(); });
  subjects_ = 0;
  latest_reached_ = nullptr;
}

}  // namespace trainwatch

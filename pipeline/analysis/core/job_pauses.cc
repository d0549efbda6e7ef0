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

const JobPauses::Job* JobPauses::find(SubjectId rank) const {
  const auto found = jobs_.find(interner_.subjects[rank].job);
  return found == jobs_.end() ? nullptr : &found->second;
}

// Ranks may pause at the same time, and a marked pause is also a long time between two steps: each
// moment counts once.
Nanos JobPauses::of_others(SubjectId rank, Time from, Time to) const {
  const Job* const job = find(rank);
  if (job == nullptr) return {};
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

// Ranks are known before any of their steps was read.
void JobPauses::find_ranks() {
  for (; subjects_ < interner_.subjects.size(); ++subjects_) {
    const auto id = static_cast<SubjectId>(subjects_);
    const Subject& subject = interner_.subjects[id];
    if (subject.rank == kNoRank && subject.process == kNoProcess) continue;
    Job& job = jobs_[subject.job];
    job.ranks.push_back(id);
    job.read_to = kNoTime;
  }
}

// A process without a rank may be a loader: it counts once it has ended a step.
bool JobPauses::trains(SubjectId rank) const {
  return interner_.subjects[rank].rank != kNoRank || iterations_.read_to(rank) != kNoTime;
}

bool JobPauses::passed(SubjectId rank, Time time) {
  find_ranks();
  const auto found = jobs_.find(interner_.subjects[rank].job);
  if (found == jobs_.end()) return true;
  Job& job = found->second;
  if (time <= job.read_to) return true;
  Time earliest = Time::max();
  for (const SubjectId other : job.ranks) {
    if (other != rank && trains(other)) earliest = std::min(earliest, iterations_.read_to(other));
  }
  job.read_to = std::min(earliest, iterations_.read_to(rank));
  return earliest >= time;
}

bool JobPauses::knows_all(SubjectId rank, std::uint32_t world) {
  find_ranks();
  const Job* const job = find(rank);
  if (world <= 1 || job == nullptr) return world <= 1;
  const auto known =
      std::ranges::count_if(job->ranks, [&](SubjectId each) { return trains(each); });
  return std::cmp_greater_equal(known, world);
}

void JobPauses::state(StateIo& io) {
  io(jobs_);
  if (!io.is_loading()) return;
  std::erase_if(jobs_, [](const auto& job) { return job.second.pauses.empty(); });
  subjects_ = 0;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/history.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

namespace trainwatch {
namespace {

constexpr std::string_view kHistoryRows = "history/";

std::string prefix_of(SubjectId job) {
  return id_row(kHistoryRows, job).append("/");
}

}  // namespace

JobHistory& History::job_of(SubjectId subject) {
  const SubjectId job = job_ids_.of(subject);
  if (const auto known = jobs_.find(job); known != jobs_.end()) return known->second;
  if (jobs_.size() == kMostJobs) forget_one();
  return jobs_[job];
}

void History::forget_one() {
  const auto oldest = std::ranges::min_element(jobs_, {}, [](const auto& job) {
    return std::max(job.second.latest(), job.second.scalars().latest());
  });
  places_.clear();
  forgotten_.insert(jobs_.extract(oldest));
  ++jobs_dropped_;
}

void History::on(const Sample& sample) {
  const auto index = static_cast<std::size_t>(sample.series);
  if (index >= places_.size() || !places_[index].known) find_place(sample);
  const Place& place = places_[index];
  if (place.job != nullptr) place.job->on(sample, place.kind, place.slot);
}

void History::find_place(const Sample& sample) {
  Place place{.known = true, .kind = history_kind(sample.resource)};
  if (place.kind < kHistoryKinds) {
    JobHistory& job = job_of(interner_.series[sample.series].subject);  // may forget all places
    place.slot = job.slot_of(sample.series);
    if (place.slot != JobHistory::kNoSlot) place.job = &job;
  }
  const auto index = static_cast<std::size_t>(sample.series);
  if (index >= places_.size()) places_.resize(index + 1);
  places_[index] = place;
}

void History::on(const Span& span) {
  if (span.kind == SpanKind::data_wait) job_of(span.subject).on_load(span);
  if (span.kind == SpanKind::checkpoint) job_of(span.subject).on_checkpoint(span);
}

void History::on(const Step& step) {
  const std::size_t share = kMostStepsOfAll / std::bit_ceil(std::max<std::size_t>(jobs_.size(), 1));
  job_of(step.subject).on(step, std::min(kMostSteps, share));
}

void History::on(const LostInterval& lost) {
  job_of(lost.rank).on(lost);
}

void History::on(const Scalar& scalar) {
  JobHistory& job = job_of(scalar.subject);
  const std::size_t share = kMostScalarPoints / std::bit_ceil(jobs_.size());
  if (share != scalar_share_) {
    for (auto& [id, history] : jobs_) history.keep_scalars(share);
  }
  scalar_share_ = share;
  job.keep_scalars(share);  // it may be new
  job.on(scalar);
}

std::uint64_t History::scalars_dropped() const {
  std::uint64_t dropped = 0;
  for (const auto& [job, history] : jobs_) dropped += history.scalars().dropped();
  return dropped;
}

std::uint64_t History::rows_dropped() const {
  std::uint64_t dropped = 0;
  for (const auto& [job, history] : jobs_) dropped += history.dropped();
  return dropped;
}

void History::save(StateRows& rows, bool all) {
  for (auto& [job, history] : forgotten_) history.remove(rows, prefix_of(job));
  forgotten_.clear();
  for (auto& [job, history] : jobs_) history.save(rows, prefix_of(job), all);
}

bool History::load(const SavedState& saved) {
  SubjectId latest = SubjectId::none;
  return for_rows(saved, kHistoryRows, [&](std::string_view key, std::string_view) {
    const std::string_view digits = key.substr(0, key.find('/'));
    const auto job = saved.subject(digits);
    if (!job || (*job == latest && jobs_.contains(*job))) return true;
    latest = *job;
    const auto prefix = std::string(kHistoryRows).append(digits).append("/");
    return jobs_[*job].load(saved, prefix) && jobs_.size() <= kMostJobs;
  });
}

}  // namespace trainwatch

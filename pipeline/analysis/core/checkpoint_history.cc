// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/checkpoint_history.h"

#include <algorithm>

#include "trainwatch/insert_sorted.h"

namespace trainwatch {
namespace {

// Writes to one file at this distance are one: it was seen while it was being written.
constexpr auto kStillWriting = std::chrono::seconds(10);

}  // namespace

void CheckpointHistory::on(CheckpointWrite write) {
  if (!is_possible(write.written) || write.written == kNoTime) return;
  const auto goes_on = [&](const CheckpointWrite& known) {
    return known.directory == write.directory && known.created == write.created &&
           known.written <= write.written && write.written - known.written < kStillWriting;
  };
  const auto begin = after(write.written - kStillWriting);
  const auto known = std::find_if(begin, writes_.cend(), goes_on);
  if (known != writes_.cend() && known->written == write.written) return;
  changed_ = true;
  if (known != writes_.cend()) writes_.erase(known);
  if (writes_.size() == kMostWrites) writes_.erase(writes_.begin());
  insert_sorted(writes_, std::move(write), &CheckpointWrite::written);
}

std::optional<Span> CheckpointHistory::during(const Step& step) const {
  const bool trains = step.is_training();
  if (writes_.empty() || !trains) return std::nullopt;
  Time begin = step.end();
  Time end = step.begin;
  for (auto write = after(step.begin); write != writes_.cend() && write->written <= step.end();
       ++write) {
    if (!is_of(*write, step.subject)) continue;
    const bool copied = write->created > write->written;  // since, with its times
    begin = std::min(begin, copied ? step.begin : std::max(write->created, step.begin));
    end = write->written;
  }
  if (end <= begin) return std::nullopt;
  Span span;
  span.start = begin;
  span.duration = end - begin;
  span.step = step.number;
  span.subject = step.subject;
  span.kind = SpanKind::checkpoint;
  span.mode = step.mode;
  span.origin = step.origin;
  return span;
}

Time CheckpointHistory::latest(SubjectId rank, Time from, Time to) const {
  Time found = kNoTime;
  for (auto write = after(from); write != writes_.cend() && write->written <= to; ++write) {
    if (is_of(*write, rank)) found = write->written;
  }
  return found;
}

CheckpointHistory::Place CheckpointHistory::after(Time time) const {
  return std::upper_bound(
      writes_.cbegin(), writes_.cend(), time,
      [](Time wanted, const CheckpointWrite& write) { return wanted < write.written; });
}

// A directory of the job, or below it.
bool CheckpointHistory::is_of(const CheckpointWrite& write, SubjectId rank) const {
  const std::string& job = interner_.subjects[rank].job;
  if (!write.directory.starts_with(job)) return false;
  return job.empty() || write.directory.size() == job.size() || write.directory[job.size()] == '/';
}

void CheckpointHistory::state(StateIo& io) {
  io(writes_);
  if (writes_.size() > kMostWrites ||
      !std::ranges::is_sorted(writes_, {}, &CheckpointWrite::written))
    io.fail();
}

}  // namespace trainwatch

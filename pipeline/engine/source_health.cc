// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/source_health.h"

#include <algorithm>
#include <numeric>

#include "pipeline/engine/pipeline_report.h"

namespace trainwatch {
namespace {

// Empty: its end is where a writer may pause.
std::string reason_to_be_stuck(const Ingest::File& file) {
  if (file.decoder == nullptr) return {};
  if (file.decoder->mid_record()) return " ends in the middle of a record";
  if (file.decoder->unrecognised()) return " begins like none of the formats that are read";
  return {};
}

}  // namespace

std::uint64_t SourceHealthTracker::Counter::update(std::uint64_t value, Time now) {
  if (value > seen) {
    recent += value - seen;
    last = now;
  } else if (now - last > kRecent) {
    recent = 0;
  }
  seen = value;
  return recent;
}

void SourceHealthTracker::look(Time now, const Ingest& ingest, const TailReport& tail, bool came) {
  as_before_ = !came && is_as_before(tail);
  if (!as_before_) look_at_files(now, ingest, tail);
  for (const auto& [name, source] : ingest.sources()) {
    SourceHealth& health = health_[name];
    Memory& memory = memory_[name];
    const std::uint64_t rejects =
        std::accumulate(source.rejects.begin(), source.rejects.end(), std::uint64_t{0});
    health.recent_rejects = memory.rejects.update(rejects, now);
    health.recent_lost = memory.lost.update(source.bytes_lost, now);
    health.recent_left_out = memory.left_out.update(source.left_out, now);
  }
}

// Without input, a file that was in order stays so unless it has unread bytes or an error now.
bool SourceHealthTracker::is_as_before(const TailReport& tail) const {
  const auto in_order = [](const TailedFile& file) {
    return file.size <= file.offset && file.error.empty();
  };
  return unread_.empty() && resting_.empty() &&
         std::ranges::all_of(health_, [](const auto& of) { return of.second.example.empty(); }) &&
         std::ranges::all_of(tail.files, in_order);
}

void SourceHealthTracker::look_at_files(Time now, const Ingest& ingest, const TailReport& tail) {
  health_.clear();
  for (const TailedFile& tailed : tail.files) {
    const auto known = ingest.files().find(tailed.file);
    if (known == ingest.files().end()) continue;
    const Ingest::File& file = known->second;
    SourceHealth& health = health_[file.known.source];
    look_at_file(now, tailed, file, health);
    if (file.left_out <= health.most_left_out) continue;
    health.most_left_out = file.left_out;
    health.crowded = file.known.path;
  }
  const auto is_gone = [&](const auto& entry) { return !ingest.files().contains(entry.first); };
  std::erase_if(unread_, is_gone);
  std::erase_if(resting_, is_gone);
}

void SourceHealthTracker::look_at_file(Time now, const TailedFile& tailed, const Ingest::File& file,
                                       SourceHealth& health) {
  ++health.files;
  look_for_unread(now, tailed, health);
  if (!tailed.error.empty()) {
    ++health.unreadable_files;
    health.example = tailed.error;
  }
  const std::string problem = reason_to_be_stuck(file);
  if (problem.empty()) {
    resting_.erase(tailed.file);
    return;
  }
  Rest& rest = resting_.try_emplace(tailed.file, Rest{file.read.offset(), now}).first->second;
  if (rest.offset != file.read.offset()) rest = {file.read.offset(), now};
  if (now - rest.since < kStuckAfter) return;
  ++health.stuck_files;
  if (health.example.empty()) health.example = file.known.path + problem;
}

// A file that grows all the time always has unread bytes, but not the same ones.
void SourceHealthTracker::look_for_unread(Time now, const TailedFile& tailed,
                                          SourceHealth& health) {
  if (tailed.size <= tailed.offset) {
    unread_.erase(tailed.file);
    return;
  }
  Unread& unread = unread_.try_emplace(tailed.file, Unread{tailed.size, now}).first->second;
  if (tailed.offset >= unread.end) unread = {tailed.size, now};
  health.lag_bytes += tailed.size - tailed.offset;
  health.lag_seconds = std::max(health.lag_seconds, to_seconds(now - unread.since));
}

}  // namespace trainwatch

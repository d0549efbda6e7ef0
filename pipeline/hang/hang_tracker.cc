#include "pipeline/hang/hang_tracker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pipeline/hang/hang_analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostPending = 16;               // of a group, the first
constexpr std::size_t kMostRecent = 32;                // of a group, the last
constexpr Nanos kTogether = std::chrono::seconds(60);  // beside their timeouts

// How far a group had come is in what is kept: those around the first that is pending, and the
// last.
void shorten(FlightGroup& group) {
  auto& operations = group.operations;
  const auto size = operations.size();
  const auto first_pending = static_cast<std::size_t>(
      std::ranges::find(operations, false, &FlightOperation::completed) - operations.begin());
  std::size_t pending = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const bool recent =
        size - i <= kMostRecent || (i < first_pending && first_pending - i <= kMostRecent);
    const bool first = !operations[i].completed && ++pending <= kMostPending;
    if (!recent && !first) operations[i].record = -1;
  }
  std::erase_if(operations, [](const FlightOperation& operation) { return operation.record < 0; });
  group.shortened |= operations.size() < size;
}

Nanos timeout_of(std::int64_t ms) {
  constexpr std::int64_t kMost = std::int64_t{24} * 3600 * 1000;
  return std::chrono::milliseconds(std::min(ms, kMost));
}

// Of the calls that are not complete.
Nanos longest_timeout(const RankDump& dump) {
  std::int64_t longest = 0;
  for (const FlightGroup& group : dump.groups) {
    for (const FlightOperation& operation : group.operations) {
      if (!operation.completed) longest = std::max(longest, operation.timeout_ms);
    }
  }
  return timeout_of(longest);
}

bool says_the_same(const WatchdogLine& a, const WatchdogLine& b) {
  const bool same_group = a.group == b.group || a.group.empty() || b.group.empty();
  return a.kind == b.kind && a.sequence == b.sequence && a.operation == b.operation &&
         a.enqueued == b.enqueued && a.completed == b.completed && same_group;
}

}  // namespace

void HangTracker::reopen(SubjectId job, Time at) {
  Time& newest = open_.try_emplace(job, at).first->second;
  newest = std::max(newest, at);
  changed_ = true;
}

void HangTracker::add(SubjectId job, RankDump dump) {
  auto& dumps = jobs_[job].dumps;
  const auto known = dumps.find(dump.rank);
  if (known == dumps.end() && dumps.size() >= kMostRanks) return;
  if (known != dumps.end() && known->second.written > dump.written) return;
  for (FlightGroup& group : dump.groups) {
    dump.entries += group.operations.size();
    shorten(group);
  }
  reopen(job, dump.written);
  dumps.insert_or_assign(dump.rank, std::move(dump));
}

// Lines are printed again by those who catch the exception.
void HangTracker::add(SubjectId job, WatchdogLine line) {
  auto& lines = jobs_[job].lines;
  if (!lines.contains(line.rank) && lines.size() >= kMostRanks) return;
  auto& own = lines[line.rank];
  const Nanos again = kTogether + std::chrono::milliseconds(line.timeout_ms);
  for (WatchdogLine& known : own) {
    if (!says_the_same(known, line) || line.at - known.at > again) continue;
    if (known.group.empty() && !line.group.empty()) {
      known.group = line.group;
      known.description = line.description;
      reopen(job, line.at);
    }
    return;
  }
  if (own.size() == kMostLines) own.erase(own.begin());
  reopen(job, line.at);
  own.push_back(std::move(line));
}

Time HangTracker::Job::newest() const {
  Time newest{};
  for (const auto& [rank, dump] : dumps) newest = std::max(newest, dump.written);
  for (const auto& [rank, own] : lines) {
    for (const WatchdogLine& line : own) newest = std::max(newest, line.at);
  }
  return newest;
}

Time HangTracker::Job::oldest() const {
  Nanos timeout{};
  for (const auto& [rank, dump] : dumps) timeout = std::max(timeout, longest_timeout(dump));
  for (const auto& [rank, own] : lines) {
    for (const WatchdogLine& line : own) timeout = std::max(timeout, timeout_of(line.timeout_ms));
  }
  return newest() - kTogether - timeout;
}

bool HangTracker::Job::complete() const {
  if (dumps.empty()) return false;
  // The usual case while dumps come one after the other, decided without looking at all of them.
  for (const FlightGroup& group : dumps.begin()->second.groups) {
    if (group.ranks.size() > dumps.size()) return false;
  }
  const Time from = oldest();
  return std::ranges::all_of(dumps, [&](const auto& entry) {
    return std::ranges::all_of(entry.second.groups, [&](const FlightGroup& group) {
      return std::ranges::all_of(group.ranks, [&](std::int32_t rank) {
        const auto found = dumps.find(rank);
        return found != dumps.end() && found->second.written >= from;
      });
    });
  });
}

HangFinding HangTracker::Job::find() const {
  const Time from = oldest();
  std::map<std::int32_t, RankDump> together;
  for (const auto& [rank, dump] : dumps) {
    if (dump.written >= from) together.emplace(rank, dump);
  }
  WatchdogLines recent;
  for (const auto& [rank, own] : lines) {
    for (const WatchdogLine& line : own) {
      if (line.at >= from) recent[rank].push_back(line);
    }
  }
  return analyze_hang(together, recent);
}

HangFinding HangTracker::find(SubjectId job) const {
  HangFinding found = jobs_.at(job).find();
  found.job = job;
  return found;
}

std::vector<HangFinding> HangTracker::take_complete() {
  std::vector<HangFinding> found;
  for (auto entry = open_.begin(); entry != open_.end();) {
    const bool complete = jobs_.at(entry->first).complete();
    if (complete) found.push_back(find(entry->first));
    entry = complete ? open_.erase(entry) : std::next(entry);
  }
  changed_ |= !found.empty();
  return found;
}

std::vector<HangFinding> HangTracker::take_settled(Time now) {
  std::vector<HangFinding> found;
  for (auto entry = open_.begin(); entry != open_.end();) {
    const bool settled = now - entry->second >= kSettled;
    if (settled) found.push_back(find(entry->first));
    entry = settled ? open_.erase(entry) : std::next(entry);
  }
  changed_ |= !found.empty();
  return found;
}

std::vector<HangFinding> HangTracker::take_all() {
  std::vector<HangFinding> found;
  for (const auto& [job, newest] : std::exchange(open_, {})) found.push_back(find(job));
  changed_ |= !found.empty();
  return found;
}

bool HangTracker::take_changed() {
  return std::exchange(changed_, false);
}

void HangTracker::Job::state(StateIo& io) {
  io(dumps);
  io(lines);
  if (dumps.size() > kMostRanks || lines.size() > kMostRanks) io.fail();
  for (const auto& [rank, own] : lines) {
    if (own.size() > kMostLines) io.fail();
  }
}

void HangTracker::state(StateIo& io) {
  io(jobs_);
  io(open_);
  for (const auto& [job, newest] : open_) {
    if (!jobs_.contains(job)) io.fail();
  }
}

}  // namespace trainwatch

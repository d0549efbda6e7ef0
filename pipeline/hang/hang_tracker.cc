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

// How far a group had come is in what is kept.
void shorten(FlightGroup& group) {
  auto& operations = group.operations;
  std::size_t pending = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool recent = operations.size() - i <= kMostRecent;
    if (!recent && (operations[i].completed || ++pending > kMostPending)) operations[i].record = -1;
  }
  std::erase_if(operations, [](const FlightOperation& operation) { return operation.record < 0; });
}

// Of the calls that are not complete.
Nanos longest_timeout(const RankDump& dump) {
  constexpr std::int64_t kMost = std::int64_t{24} * 3600 * 1000;
  std::int64_t longest = 0;
  for (const FlightGroup& group : dump.groups) {
    for (const FlightOperation& operation : group.operations) {
      if (!operation.completed) longest = std::max(longest, operation.timeout_ms);
    }
  }
  return std::chrono::milliseconds(std::min(longest, kMost));
}

}  // namespace

void HangTracker::add(SubjectId job, RankDump dump) {
  Dumps& dumps = jobs_[job];
  const auto known = dumps.find(dump.rank);
  if (known == dumps.end() && dumps.size() >= kMostRanks) return;
  if (known != dumps.end() && known->second.written > dump.written) return;
  for (FlightGroup& group : dump.groups) shorten(group);
  Time& newest = open_.try_emplace(job, dump.written).first->second;
  newest = std::max(newest, dump.written);
  dumps.insert_or_assign(dump.rank, std::move(dump));
  changed_ = true;
}

HangFinding HangTracker::find(SubjectId job) const {
  const Dumps& dumps = jobs_.at(job);
  Time newest{};
  Nanos timeout{};
  for (const auto& [rank, dump] : dumps) {
    newest = std::max(newest, dump.written);
    timeout = std::max(timeout, longest_timeout(dump));
  }
  Dumps together;
  for (const auto& [rank, dump] : dumps) {
    if (dump.written >= newest - kTogether - timeout) together.emplace(rank, dump);
  }
  HangFinding found = analyze_hang(together);
  found.job = job;
  return found;
}

std::vector<HangFinding> HangTracker::take_complete() {
  std::vector<HangFinding> found;
  for (auto entry = open_.begin(); entry != open_.end();) {
    HangFinding finding = find(entry->first);
    const bool complete = finding.missing.empty();
    if (complete) found.push_back(std::move(finding));
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

void HangTracker::state(StateIo& io) {
  io(jobs_);
  io(open_);
  for (const auto& [job, dumps] : jobs_) {
    if (dumps.size() > kMostRanks) io.fail();
  }
  for (const auto& [job, newest] : open_) {
    if (!jobs_.contains(job)) io.fail();
  }
}

}  // namespace trainwatch

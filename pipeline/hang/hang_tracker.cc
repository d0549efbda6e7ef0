// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/hang_tracker.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/hang/hang_analysis.h"

namespace trainwatch {
namespace {

// What is kept of a group around its first pending operation: sends and receives are counted.
struct Window {
  std::size_t before;
  std::size_t behind;
};
constexpr Window kOfCollectives{4, 16};
constexpr Window kOfSends{32, 32};
constexpr Nanos kTogether = std::chrono::seconds(60);  // beside their timeouts
constexpr std::string_view kPrefix = "hang/";

std::size_t operations_of(const RankDump& dump) {
  std::size_t count = dump.groups.size();
  for (const FlightGroup& group : dump.groups) count += group.operations.size();
  return count;
}

std::size_t lines_of(const WatchdogLines& lines) {
  std::size_t count = 0;
  for (const auto& [rank, own] : lines) count += own.size();
  return count;
}

// Only the first that is pending is compared and described.
void drop_details(FlightGroup& group) {
  bool described[2] = {};  // a collective, a send or receive
  for (FlightOperation& operation : group.operations) {
    if (!operation.completed && !std::exchange(described[operation.p2p ? 1 : 0], true)) continue;
    operation.inputs = operation.outputs = {};
    operation.input_types = operation.output_types = {};
    operation.frames = {};
  }
}

// How far a group had come is in what is kept.
void shorten(FlightGroup& group) {
  auto& operations = group.operations;
  const bool sends = std::ranges::find(operations, true, &FlightOperation::p2p) != operations.end();
  const auto [before, behind] = sends ? kOfSends : kOfCollectives;
  const auto first_pending = static_cast<std::size_t>(
      std::ranges::find(operations, false, &FlightOperation::completed) - operations.begin());
  const std::size_t from = first_pending - std::min(first_pending, before);
  const std::size_t to = std::min(operations.size(), first_pending + behind);
  if (to - from < operations.size()) {
    group.last_sequence = std::ranges::max(operations, {}, &FlightOperation::sequence).sequence;
    operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(to), operations.end());
    operations.erase(operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(from));
    operations.shrink_to_fit();
  }
  drop_details(group);
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
  open_changed_ = true;
}

void HangTracker::add(SubjectId job, RankDump dump) {
  auto& dumps = jobs_[job].dumps;
  const auto known = dumps.find(dump.rank);
  if (known == dumps.end() && dumps.size() >= kMostRanks) return;
  if (known != dumps.end() && known->second.written > dump.written) return;
  dump.entries = operations_of(dump) - dump.groups.size();
  for (FlightGroup& group : dump.groups) shorten(group);
  const std::size_t replaced = known == dumps.end() ? 0 : operations_of(known->second);
  const std::size_t operations = operations_ - replaced + operations_of(dump);
  if (operations > kMostOperations) return;
  operations_ = operations;
  reopen(job, dump.written);
  changed_.emplace(job, dump.rank);
  dumps.insert_or_assign(dump.rank, std::move(dump));
}

// Lines are printed again by those who catch the exception.
void HangTracker::add(SubjectId job, WatchdogLine line) {
  auto& lines = jobs_[job].lines;
  const bool full = lines.size() >= kMostRanks || lines_ >= kMostLinesInAll;
  if (!lines.contains(line.rank) && full) return;
  auto& own = lines[line.rank];
  const Nanos again = kTogether + std::chrono::milliseconds(line.timeout_ms);
  for (WatchdogLine& known : own) {
    if (!says_the_same(known, line) || line.at - known.at > again) continue;
    if (known.group.empty() && !line.group.empty()) {
      known.group = line.group;
      known.description = line.description;
      reopen(job, line.at);
      changed_.emplace(job, line.rank);
    }
    return;
  }
  if (own.size() == kMostLines || lines_ >= kMostLinesInAll) {
    own.erase(own.begin());
    --lines_;
  }
  ++lines_;
  reopen(job, line.at);
  changed_.emplace(job, line.rank);
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

std::vector<std::int32_t> HangTracker::Job::date_copies() {
  Time newest = kNoTime;
  for (const auto& [rank, dump] : dumps) {
    if (dump.copied && (newest == kNoTime || dump.written > newest)) newest = dump.written;
  }
  std::vector<std::int32_t> dated;
  for (auto& [rank, dump] : dumps) {
    if (newest == kNoTime || dump.copied || dump.entries > 0) continue;
    dump.written = newest;
    dump.copied = true;
    dated.push_back(rank);
  }
  return dated;
}

// Decides the usual case, in which dumps come one after the other, without looking at all of them.
bool HangTracker::Job::may_be_complete() const {
  return !dumps.empty() &&
         std::ranges::all_of(dumps.begin()->second.groups, [this](const FlightGroup& group) {
           return group.ranks.size() <= dumps.size();
         });
}

bool HangTracker::Job::complete() const {
  std::set<RankList> members;  // most ranks have the same
  for (const auto& [rank, dump] : dumps) {
    for (const FlightGroup& group : dump.groups) members.insert(group.ranks);
  }
  const Time from = oldest();
  return std::ranges::all_of(members, [&](const RankList& list) {
    return std::ranges::all_of(list.all(), [&](std::int32_t rank) {
      const auto found = dumps.find(rank);
      return found != dumps.end() && found->second.written >= from;
    });
  });
}

HangFinding HangTracker::Job::find() const {
  return analyze_hang(dumps, lines);
}

// The ranks of which something is gone.
std::vector<std::int32_t> HangTracker::Job::forget_before(Time oldest) {
  std::vector<std::int32_t> ranks;
  for (auto entry = dumps.begin(); entry != dumps.end();) {
    const bool old = entry->second.written < oldest;
    if (old) ranks.push_back(entry->first);
    entry = old ? dumps.erase(entry) : std::next(entry);
  }
  for (auto entry = lines.begin(); entry != lines.end();) {
    const auto gone =
        std::erase_if(entry->second, [&](const WatchdogLine& line) { return line.at < oldest; });
    if (gone > 0) ranks.push_back(entry->first);
    entry = entry->second.empty() ? lines.erase(entry) : std::next(entry);
  }
  return ranks;
}

void HangTracker::date_copies(SubjectId job) {
  for (const std::int32_t rank : jobs_.at(job).date_copies()) changed_.emplace(job, rank);
}

// What belongs to an earlier hang never counts again.
HangFinding HangTracker::find(SubjectId job) {
  date_copies(job);
  Job& own = jobs_.at(job);
  for (const auto& [rank, dump] : own.dumps) operations_ -= operations_of(dump);
  lines_ -= lines_of(own.lines);
  for (const std::int32_t rank : own.forget_before(own.oldest())) changed_.emplace(job, rank);
  for (const auto& [rank, dump] : own.dumps) operations_ += operations_of(dump);
  lines_ += lines_of(own.lines);
  HangFinding found = own.find();
  found.job = job;
  return found;
}

std::vector<HangFinding> HangTracker::take_complete() {
  std::vector<HangFinding> found;
  for (auto entry = open_.begin(); entry != open_.end();) {
    const Job& own = jobs_.at(entry->first);
    const bool enough = own.may_be_complete();
    if (enough) date_copies(entry->first);
    const bool complete = enough && own.complete();
    if (complete) found.push_back(find(entry->first));
    entry = complete ? open_.erase(entry) : std::next(entry);
  }
  open_changed_ |= !found.empty();
  return found;
}

std::vector<HangFinding> HangTracker::take_settled(Time now) {
  std::vector<HangFinding> found;
  for (auto entry = open_.begin(); entry != open_.end();) {
    const bool settled = now - entry->second >= kSettled;
    if (settled) found.push_back(find(entry->first));
    entry = settled ? open_.erase(entry) : std::next(entry);
  }
  open_changed_ |= !found.empty();
  return found;
}

std::vector<HangFinding> HangTracker::take_all() {
  std::vector<HangFinding> found;
  for (const auto& [job, newest] : std::exchange(open_, {})) found.push_back(find(job));
  open_changed_ |= !found.empty();
  return found;
}

void HangTracker::save(StateRows& rows, bool all) {
  if (all) {
    for (const auto& [job, own] : jobs_) {
      for (const auto& [rank, dump] : own.dumps) changed_.emplace(job, rank);
      for (const auto& [rank, line] : own.lines) changed_.emplace(job, rank);
    }
  }
  for (const Place& place : std::exchange(changed_, {})) save(rows, place);
  if (std::exchange(open_changed_, false) || all) {
    rows.put("hangs", [&](StateIo& io) { io(open_); });
  }
}

void HangTracker::save(StateRows& rows, Place place) const {
  const auto& [job, rank] = place;
  const Job& own = jobs_.at(job);
  const std::string key = id_row(kPrefix, job) + "/" + std::to_string(rank);
  const auto dump = own.dumps.find(rank);
  const auto lines = own.lines.find(rank);
  if (dump == own.dumps.end() && lines == own.lines.end()) return rows.remove(key);
  std::optional<RankDump> kept_dump;
  std::vector<WatchdogLine> kept_lines;
  if (dump != own.dumps.end()) kept_dump = dump->second;
  if (lines != own.lines.end()) kept_lines = lines->second;
  rows.put(key, [&](StateIo& io) {
    io(kept_dump);
    io(kept_lines);
  });
}

bool HangTracker::load(const SavedState& saved) {
  *this = {};
  const bool whole = for_rows(saved, kPrefix, [&](std::string_view key, std::string_view value) {
    const auto bar = key.find('/');
    const auto rank = number_in<std::int32_t>(key.substr(std::min(bar, key.size() - 1) + 1));
    if (bar == std::string_view::npos || !rank) return false;
    const auto job = saved.subject(key.substr(0, bar));
    return !job || load({*job, *rank}, saved.open(value));
  });
  if (!whole || !load_row(saved, "hangs", [&](StateIo& io) { io(open_); })) return false;
  return std::ranges::all_of(open_, [&](const auto& entry) { return jobs_.contains(entry.first); });
}

bool HangTracker::load(Place place, StateIo io) {
  const auto [job, rank] = place;
  std::optional<RankDump> dump;
  std::vector<WatchdogLine> lines;
  io(dump);
  io(lines);
  Job& own = jobs_[job];
  const bool possible = io.complete() && (!dump || dump->rank == rank) &&
                        lines.size() <= kMostLines && own.dumps.size() < kMostRanks &&
                        own.lines.size() < kMostRanks;
  if (!possible) return false;
  if (dump) operations_ += operations_of(*dump);
  if (dump) own.dumps.emplace(rank, std::move(*dump));
  lines_ += lines.size();
  if (!lines.empty()) own.lines.emplace(rank, std::move(lines));
  return operations_ <= kMostOperations;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/watchdog_dumps.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trainwatch {
namespace {

constexpr char kOwn = '\x1f';  // in no name of a group

struct Named {
  std::string name;
  std::string description;
  bool operator<(const Named& other) const { return name < other.name; }
};

bool is_p2p(const WatchdogLine& line) {
  return line.operation == "SEND" || line.operation.starts_with("RECV");
}

// The group of a call that timed out: as its line has it, else as the line has it that says how far
// the rank was in the group when this call failed.
Named group_of(const WatchdogLine& timeout, const std::vector<WatchdogLine>& lines) {
  if (!timeout.group.empty() || timeout.sequence < 0) return {timeout.group, timeout.description};
  Named found;
  for (const WatchdogLine& line : lines) {
    const bool fits = line.kind == WatchdogLine::Kind::progress && !line.group.empty() &&
                      line.sequence == timeout.sequence && line.enqueued >= timeout.sequence;
    if (!fits || line.group == found.name) continue;
    if (!found.name.empty()) return {};  // two groups have come as far
    found = {line.group, line.description};
  }
  return found;
}

FlightOperation operation_of(const WatchdogLine& line) {
  FlightOperation operation;
  operation.sequence = line.sequence;
  operation.name = line.operation;
  operation.retired = true;
  operation.timeout_ms = line.timeout_ms;
  const Nanos ran = std::chrono::milliseconds(line.ran_ms);
  if (line.at == kNoTime || line.at < Time{} + ran) return operation;  // of a file without a time
  operation.created = line.at - ran;
  operation.record = to_ns(operation.created);
  return operation;
}

FlightGroup& group_in(RankDump& dump, const Named& named) {
  for (FlightGroup& group : dump.groups) {
    if (group.name == named.name) return group;
  }
  return dump.groups.emplace_back(FlightGroup{named.name, named.description, {}, {}, {}});
}

RankDump dump_of(std::int32_t rank, const std::vector<WatchdogLine>& lines) {
  RankDump dump;
  dump.rank = rank;
  dump.has_first_pending = true;  // what has waited longest times out first
  std::set<Named> with_p2p;
  for (const WatchdogLine& line : lines) {
    dump.written = std::max(dump.written, line.at == kNoTime ? Time{} : line.at);
    if (line.kind != WatchdogLine::Kind::timeout) continue;
    Named named = group_of(line, lines);
    if (is_p2p(line)) with_p2p.insert(named);
    if (named.name.empty() || is_p2p(line)) {
      named.name += kOwn + line.operation + "#" + std::to_string(line.sequence);
    }
    group_in(dump, named).operations.push_back(operation_of(line));
  }
  for (const WatchdogLine& line : lines) {
    const Named named{line.group, line.description};
    // Numbers of sends and receives are others than those of collectives.
    const bool says = line.kind == WatchdogLine::Kind::progress && !line.group.empty() &&
                      !with_p2p.contains(named);
    if (!says) continue;
    auto& progress = group_in(dump, named).progress;
    if (!progress) progress.emplace();
    progress->enqueued = std::max(progress->enqueued, line.enqueued);
    progress->completed = std::max(progress->completed, line.completed);
  }
  for (FlightGroup& group : dump.groups) {
    std::ranges::stable_sort(group.operations, {}, &FlightOperation::record);
  }
  return dump;
}

// A name alone may be that of several groups: then it is not known which one the rank means.
void set_members(RankDump& dump, const std::map<std::int32_t, RankDump>& dumps) {
  for (FlightGroup& group : dump.groups) {
    std::set<RankList> members;
    for (const auto& [rank, other] : dumps) {
      for (const FlightGroup& theirs : other.groups) {
        const bool same = theirs.name == group.name && theirs.ranks.contains(dump.rank) &&
                          (group.description.empty() || group.description == theirs.description);
        if (same) members.insert(theirs.ranks);
      }
    }
    if (members.size() == 1) group.ranks = *members.begin();
  }
  std::erase_if(dump.groups, [](const FlightGroup& group) { return group.ranks.empty(); });
  // Dumps have other names for operations: "all_reduce" for ALLREDUCE.
  for (FlightGroup& group : dump.groups) {
    for (FlightOperation& operation : group.operations) operation.name.clear();
  }
}

}  // namespace

std::map<std::int32_t, RankDump> dumps_of_lines(const WatchdogLines& lines,
                                                const std::map<std::int32_t, RankDump>& dumps) {
  std::map<std::int32_t, RankDump> made;
  for (const auto& [rank, own] : lines) {
    if (!own.empty() && !dumps.contains(rank)) made.emplace(rank, dump_of(rank, own));
  }
  if (!dumps.empty()) {
    for (auto& [rank, dump] : made) set_members(dump, dumps);
    return made;
  }
  std::map<std::string, std::vector<std::int32_t>> members;
  for (const auto& [rank, dump] : made) {
    for (const FlightGroup& group : dump.groups) members[group.name].push_back(rank);
  }
  std::map<std::string, RankList> lists;
  for (auto& [name, ranks] : members) lists.emplace(name, std::move(ranks));
  for (auto& [rank, dump] : made) {
    for (FlightGroup& group : dump.groups) group.ranks = lists.at(group.name);
  }
  return made;
}

std::string shown_group(const std::string& name) {
  return name.substr(0, name.find(kOwn));
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/p2p_match.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "pipeline/hang/call_text.h"

namespace trainwatch {
namespace {

// The records, at the rank and at its peer, of a collective that both have completed.
using Anchor = std::pair<std::int64_t, std::int64_t>;

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// The last two before `record`, the later one first.
std::vector<Anchor> anchors(std::span<const GroupState* const> groups, std::int32_t rank,
                            std::int32_t peer, std::int64_t record) {
  std::vector<Anchor> found;
  for (const GroupState* group : groups) {
    const auto own = group->members.find(rank);
    const auto other = group->members.find(peer);
    if (own == group->members.end() || other == group->members.end()) continue;
    for (const auto& [sequence, call] : own->second.calls) {
      const auto theirs = other->second.calls.find(sequence);
      const bool shared = call->completed && call->record < record &&
                          theirs != other->second.calls.end() && theirs->second->completed;
      if (shared) found.emplace_back(call->record, theirs->second->record);
    }
  }
  std::ranges::sort(found, std::greater{});
  if (found.size() > 2) found.resize(2);
  return found;
}

template <typename Fits>
std::vector<const P2pCall*> calls_between(const MemberState& member, std::int64_t after,
                                          std::int64_t last, const Fits& fits) {
  std::vector<const P2pCall*> found;
  for (const P2pCall& call : member.p2p) {
    const std::int64_t record = call.operation->record;
    if (record > after && record <= last && fits(*call.operation)) found.push_back(&call);
  }
  return found;
}

// Of a group that has lost some, those behind the first that is kept are there up to the first
// that is pending.
bool has_all_after(const MemberState& member, std::int64_t record) {
  return !member.shortened ||
         (!member.p2p.empty() && member.p2p.front().operation->record <= record);
}

}  // namespace

bool is_other_end(const GroupState& group, std::int32_t rank, const FlightOperation& operation,
                  std::int32_t peer, const FlightOperation& theirs) {
  const auto to = peer_of(operation.name);
  const auto back = peer_of(theirs.name);
  return to && back && to->sends != back->sends && to->peer < group.ranks.size() &&
         back->peer < group.ranks.size() && group.ranks[to->peer] == peer &&
         group.ranks[back->peer] == rank;
}

Counterpart find_counterpart(std::span<const GroupState* const> own_groups, const GroupState& group,
                             std::int32_t rank, const FlightOperation& operation,
                             std::int32_t peer) {
  const MemberState& own = group.members.at(rank);
  const MemberState& other = group.members.at(peer);
  const auto common = anchors(own_groups, rank, peer, operation.record);
  if (common.empty()) return Counterpart::unknown;
  const auto [after, after_theirs] = common.front();
  if (!has_all_after(own, after) || !has_all_after(other, after_theirs)) {
    return Counterpart::unknown;
  }
  const auto same = [&](const FlightOperation& call) { return call.name == operation.name; };
  const auto opposite = [&](const FlightOperation& call) {
    return is_other_end(group, rank, operation, peer, call);
  };
  if (common.size() > 1) {
    const auto [before, before_theirs] = common.back();
    const bool comparable = has_all_after(own, before) && has_all_after(other, before_theirs);
    if (comparable && calls_between(own, before, after, same).size() !=
                          calls_between(other, before_theirs, after_theirs, opposite).size()) {
      return Counterpart::unknown;
    }
  }
  const std::size_t number = calls_between(own, after, operation.record, same).size();
  const auto theirs = calls_between(other, after_theirs, kLast, opposite);
  if (theirs.size() < number) {
    return other.shortened ? Counterpart::unknown : Counterpart::missing;
  }
  return theirs[number - 1]->completed ? Counterpart::done : Counterpart::pending;
}

}  // namespace trainwatch

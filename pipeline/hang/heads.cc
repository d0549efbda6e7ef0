// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/heads.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace trainwatch {
namespace {

// A dump has the last operations of a rank, in some jobs only those that are pending: is there
// none before the first pending one that it shows?
class Evidence {
 public:
  void add(const MemberState& member) {
    all_here_ &= member.first == MemberState::First::here;
    any_lost_ |= member.first == MemberState::First::lost;
    for (const auto& [sequence, call] : member.calls) {
      if (call->completed) add(*call);
    }
    for (const P2pCall& call : member.p2p) {
      if (call.completed) add(*call.operation);
    }
  }
  // `has_room`: there are fewer than fit.
  bool shows_first(const FlightOperation& pending, bool has_room) const {
    return !any_lost_ && (has_room || all_here_ || first_completed_ < pending.record);
  }

 private:
  void add(const FlightOperation& completed) {
    first_completed_ = std::min(first_completed_, completed.record);
  }

  bool all_here_ = true;
  bool any_lost_ = false;
  std::int64_t first_completed_ = std::numeric_limits<std::int64_t>::max();
};

std::size_t entries_of(const RankDump& dump) {
  std::size_t kept = 0;
  for (const FlightGroup& group : dump.groups) kept += group.operations.size();
  return std::max(kept, dump.entries);
}

bool are_one_block(const FlightOperation& a, const FlightOperation& b) {
  return a.p2p && b.p2p && a.sequence == b.sequence && a.p2p_sequence == b.p2p_sequence;
}

}  // namespace

std::map<std::int32_t, Head> find_heads(const std::vector<GroupState>& groups,
                                        const std::map<std::int32_t, RankDump>& dumps) {
  std::map<std::int32_t, Head> heads;
  const auto consider = [&](const GroupState& group, std::int32_t rank,
                            const FlightOperation& operation) {
    Head& head = heads[rank];
    const bool same = !head.parts.empty() && head.parts.front().first == &group &&
                      are_one_block(head.first(), operation);
    if (!same && !head.parts.empty() && head.first().record <= operation.record) return;
    if (!same) head.parts.clear();
    head.parts.emplace_back(&group, &operation);
  };
  for (const GroupState& group : groups) {
    for (const auto& [rank, member] : group.members) {
      for (const auto& [sequence, call] : member.calls) {
        if (!call->completed) consider(group, rank, *call);
      }
      for (const P2pCall& call : member.p2p) {
        if (!call.completed) consider(group, rank, *call.operation);
      }
    }
  }
  std::map<std::int32_t, Evidence> evidence;
  for (const GroupState& group : groups) {
    for (const auto& [rank, member] : group.members) evidence[rank].add(member);
  }
  std::size_t most = 0;  // as many fit, at least: all ranks of a job are set up alike
  for (const auto& [rank, dump] : dumps) most = std::max(most, entries_of(dump));
  for (auto& [rank, head] : heads) {
    const RankDump& dump = dumps.at(rank);
    head.waits_long = waits_long(head.first(), dump.written);
    const bool has_room = dump.has_first_pending || entries_of(dump) < most;
    head.certain = evidence.at(rank).shows_first(head.first(), has_room);
  }
  return heads;
}

}  // namespace trainwatch

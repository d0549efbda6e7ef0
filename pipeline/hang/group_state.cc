// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/group_state.h"

#include <algorithm>
#include <utility>

namespace trainwatch {
namespace {

// The parts of a coalesced block are recorded one by one, and nobody ever marks them as done: the
// block itself says whether they are.
class Blocks {
 public:
  explicit Blocks(const FlightGroup& group) {
    for (const FlightOperation& operation : group.operations) {
      if (is_block(operation)) completed_[number_of(operation)] = operation.completed;
    }
  }
  static bool is_block(const FlightOperation& operation) { return operation.name == "coalesced"; }
  bool has_part(const FlightOperation& operation) const {
    return !is_block(operation) && completed_.contains(number_of(operation));
  }
  bool is_complete(const FlightOperation& operation) const {
    const auto block = completed_.find(number_of(operation));
    return operation.completed || (block != completed_.end() && block->second);
  }

 private:
  using Number = std::pair<std::int64_t, std::int64_t>;
  static Number number_of(const FlightOperation& operation) {
    return {operation.sequence, operation.p2p_sequence};
  }
  std::map<Number, bool> completed_;
};

MemberState member_of(const FlightGroup& group) {
  MemberState member;
  member.shortened = group.last_sequence.has_value();
  if (member.shortened) member.enqueued = *group.last_sequence;
  const Blocks blocks(group);
  std::map<std::string_view, std::int64_t> completed_p2p;  // the last record, by operation
  for (const FlightOperation& operation : group.operations) {
    const bool completed = blocks.is_complete(operation);
    if (operation.p2p && !Blocks::is_block(operation)) {
      member.p2p.push_back({&operation, completed});
      if (completed) completed_p2p[operation.name] = operation.record;
    }
    if (blocks.has_part(operation) && (!operation.p2p || completed)) continue;
    member.enqueued = std::max(member.enqueued, operation.sequence);
    member.known = true;
    if (operation.p2p) continue;
    member.calls[operation.sequence] = &operation;
    if (completed) member.completed = std::max(member.completed, operation.sequence);
  }
  // Between two ranks, in this direction, they complete in order.
  for (P2pCall& call : member.p2p) {
    const auto later = completed_p2p.find(call.operation->name);
    if (later != completed_p2p.end() && later->second > call.operation->record) {
      call.completed = true;
    }
  }
  return member;
}

// The status of a group that also sends point to point counts those operations, with numbers of
// their own. What its operations say of the collectives is then all there is.
bool is_status_of_collectives(const std::vector<const FlightGroup*>& views) {
  return std::ranges::all_of(views, [](const FlightGroup* view) {
    return std::ranges::all_of(view->operations, [view](const FlightOperation& operation) {
      if (operation.p2p) return false;
      if (!view->progress || operation.completed) return true;
      return view->progress->completed < operation.sequence &&
             view->progress->enqueued >= operation.sequence;
    });
  });
}

// By the numbers that follow those of the status, which are of sends and receives if there is
// nothing else.
MemberState::First first_of(const MemberState& member, const FlightGroup& view, bool reliable) {
  using First = MemberState::First;
  auto pending = member.first_pending();
  if (pending && member.completed >= 0 && *pending > member.completed + 1) return First::lost;
  if (!view.progress || (!reliable && !member.calls.empty())) return First::unknown;
  if (!reliable) {
    const auto send = std::ranges::find(member.p2p, false, &P2pCall::completed);
    if (send != member.p2p.end()) pending = send->operation->p2p_sequence;
  }
  const std::int64_t next = view.progress->completed + 1;
  const bool here = pending ? *pending <= next : view.progress->enqueued < next;
  return here ? First::here : First::lost;
}

void place(GroupState& group) {
  for (const auto& [rank, member] : group.members) {
    const auto pending = member.first_pending();
    if (pending) group.sequence = std::min(group.sequence.value_or(*pending), *pending);
  }
  if (!group.sequence) return;
  for (const std::int32_t rank : group.ranks) {
    switch (group.place_of(rank, *group.sequence)) {
      case GroupState::Place::waiting:
        group.waiting.insert(rank);
        break;
      case GroupState::Place::done:
        group.done.insert(rank);
        break;
      case GroupState::Place::absent:
        group.absent.insert(rank);
        break;
      case GroupState::Place::unknown:
        group.unknown.insert(rank);
        break;
    }
  }
}

// Work that is shorter than this is not stuck: a job that is well has some in every dump.
constexpr Nanos kLeastWait = std::chrono::seconds(30);
// A file that is older than its content by so much was copied: its time says nothing.
constexpr Nanos kOldest = std::chrono::hours(1);

}  // namespace

std::optional<std::int64_t> MemberState::first_pending() const {
  const auto found =
      std::ranges::find_if(calls, [](const auto& call) { return !call.second->completed; });
  return found == calls.end() ? std::nullopt : std::optional(found->first);
}

const FlightOperation* GroupState::call(std::int32_t rank) const {
  const auto member = members.find(rank);
  if (member == members.end() || !sequence) return nullptr;
  const auto found = member->second.calls.find(*sequence);
  return found == member->second.calls.end() ? nullptr : found->second;
}

GroupState::Place GroupState::place_of(std::int32_t rank, std::int64_t at) const {
  const auto entry = members.find(rank);
  if (entry == members.end()) return Place::unknown;
  const MemberState& member = entry->second;
  const auto call = member.calls.find(at);
  if (call != member.calls.end() && !call->second->completed) return Place::waiting;
  if (member.completed >= at) return Place::done;
  return member.known && member.enqueued < at ? Place::absent : Place::unknown;
}

std::vector<GroupState> group_states(const std::map<std::int32_t, RankDump>& dumps) {
  using Key = std::pair<std::string, RankList>;
  std::map<Key, std::map<std::int32_t, const FlightGroup*>> groups;
  for (const auto& [rank, dump] : dumps) {
    for (const FlightGroup& group : dump.groups) {
      if (group.ranks.contains(rank)) {
        groups[{group.name, group.ranks}][rank] = &group;
      }
    }
  }
  std::vector<GroupState> states;
  for (const auto& [key, views] : groups) {
    GroupState& state = states.emplace_back();
    state.name = key.first;
    state.ranks = key.second.all();
    state.description = views.begin()->second->description;
    std::vector<const FlightGroup*> all;
    for (const auto& [rank, view] : views) all.push_back(view);
    const bool reliable = is_status_of_collectives(all);
    for (const auto& [rank, view] : views) {
      MemberState& member = state.members[rank];
      member = member_of(*view);
      if (reliable && view->progress) {
        member.known = true;
        member.enqueued = std::max(member.enqueued, view->progress->enqueued);
        member.completed = std::max(member.completed, view->progress->completed);
      }
      member.first = first_of(member, *view, reliable);
    }
    for (const std::int32_t rank : state.ranks) {
      if (!dumps.contains(rank)) state.no_dump.insert(rank);
    }
    place(state);
  }
  return states;
}

bool waits_long(const FlightOperation& operation, Time written) {
  if (operation.retired) return true;
  if (operation.created == kNoTime || written == Time{}) return true;
  const Nanos waited = written - operation.created;
  if (waited < -kOldest) return true;
  const bool timed_out =
      operation.timeout_ms > 0 && waited >= std::chrono::milliseconds(operation.timeout_ms);
  return timed_out || waited >= kLeastWait;
}

}  // namespace trainwatch

#include "pipeline/hang/group_state.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainwatch {
namespace {

// The parts of a coalesced block are recorded one by one, and nobody ever marks them as done: the
// block itself says whether they are.
std::vector<const FlightOperation*> without_parts(const FlightGroup& group) {
  std::set<std::pair<std::int64_t, std::int64_t>> blocks;
  std::set<std::pair<std::int64_t, std::int64_t>> pending_blocks;
  for (const FlightOperation& operation : group.operations) {
    if (operation.name != "coalesced") continue;
    blocks.emplace(operation.sequence, operation.p2p_sequence);
    if (!operation.completed) pending_blocks.emplace(operation.sequence, operation.p2p_sequence);
  }
  std::vector<const FlightOperation*> kept;
  for (const FlightOperation& operation : group.operations) {
    const std::pair number{operation.sequence, operation.p2p_sequence};
    const bool is_part = operation.name != "coalesced" && blocks.contains(number);
    const bool names_peer = operation.p2p && pending_blocks.contains(number);
    if (!is_part || names_peer) kept.push_back(&operation);
  }
  return kept;
}

MemberState member_of(const FlightGroup& group) {
  MemberState member;
  const auto operations = without_parts(group);
  std::map<std::string_view, std::int64_t> completed_p2p;  // the last record, by operation
  for (const FlightOperation* operation : operations) {
    member.enqueued = std::max(member.enqueued, operation->sequence);
    member.known = true;
    if (operation->p2p && operation->completed) completed_p2p[operation->name] = operation->record;
    if (operation->p2p) continue;
    member.calls[operation->sequence] = operation;
    if (operation->completed) member.completed = std::max(member.completed, operation->sequence);
  }
  for (const FlightOperation* operation : operations) {
    if (!operation->p2p || operation->name == "coalesced") continue;
    // Between two ranks, in this direction, they complete in order.
    const auto later = completed_p2p.find(operation->name);
    if (later != completed_p2p.end() && later->second > operation->record) continue;
    member.p2p.push_back(operation);
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

void place(GroupState& group) {
  for (const auto& [rank, member] : group.members) {
    const auto pending = member.first_pending();
    if (pending) group.sequence = std::min(group.sequence.value_or(*pending), *pending);
  }
  if (!group.sequence) return;
  const std::int64_t sequence = *group.sequence;
  for (const std::int32_t rank : group.ranks) {
    const auto entry = group.members.find(rank);
    if (entry == group.members.end()) {
      group.unknown.insert(rank);
      continue;
    }
    const MemberState& member = entry->second;
    const auto call = member.calls.find(sequence);
    if (call != member.calls.end() && !call->second->completed) {
      group.waiting.insert(rank);
    } else if (member.completed >= sequence) {
      group.done.insert(rank);
    } else if (member.known && member.enqueued < sequence) {
      group.absent.insert(rank);
    } else {
      group.unknown.insert(rank);
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

std::vector<GroupState> group_states(const std::map<std::int32_t, RankDump>& dumps) {
  using Key = std::pair<std::string, std::vector<std::int32_t>>;
  std::map<Key, std::map<std::int32_t, const FlightGroup*>> groups;
  for (const auto& [rank, dump] : dumps) {
    for (const FlightGroup& group : dump.groups) {
      if (std::ranges::binary_search(group.ranks, rank)) {
        groups[{group.name, group.ranks}][rank] = &group;
      }
    }
  }
  std::vector<GroupState> states;
  for (const auto& [key, views] : groups) {
    GroupState& state = states.emplace_back();
    std::tie(state.name, state.ranks) = key;
    state.description = views.begin()->second->description;
    std::vector<const FlightGroup*> all;
    for (const auto& [rank, view] : views) all.push_back(view);
    const bool reliable = is_status_of_collectives(all);
    for (const auto& [rank, view] : views) {
      MemberState& member = state.members[rank];
      member = member_of(*view);
      if (!reliable || !view->progress) continue;
      member.known = true;
      member.enqueued = std::max(member.enqueued, view->progress->enqueued);
      member.completed = std::max(member.completed, view->progress->completed);
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

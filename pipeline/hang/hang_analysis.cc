#include "pipeline/hang/hang_analysis.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/hang/call_mismatch.h"
#include "pipeline/hang/call_text.h"
#include "pipeline/hang/group_state.h"

namespace trainwatch {
namespace {

using Kind = HangFinding::Kind;
using Dumps = std::map<std::int32_t, RankDump>;
using Ranks = std::set<std::int32_t>;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
struct Judged {
  const GroupState* group = nullptr;
  Kind kind = Kind::unknown;
  Ranks suspects;
  CallMismatch mismatch;
};

class HangAnalysis {
 public:
  explicit HangAnalysis(const Dumps& dumps) : dumps_(dumps), groups_(group_states(dumps)) {}

  HangFinding run() {
    for (const GroupState& group : groups_) find_heads(group);
    for (const GroupState& group : groups_) judge(group);
    for (const GroupState& group : groups_) judge_p2p(group);
    for (const Judged& judged : judged_) draw_edges(judged);
    describe_all();
    if (judged_.empty() && !p2p_waits_) return finding_;
    finding_.kind = Kind::unknown;
    if (!accused_.empty()) {
      accuse_sinks();
    } else if (!accuse_missing()) {
      accuse_behind();
    }
    return finding_;
  }

 private:
  bool hangs(const GroupState& group) const {
    return std::ranges::any_of(group.waiting, [&](std::int32_t rank) {
      return waits_long(*group.call(rank), dumps_.at(rank).written);
    });
  }

  // A GPU does the calls of its rank one after the other, as far as can be seen: it waits in the
  // first that is pending, and what is behind it has not begun. The parts of a block go together.
  void find_heads(const GroupState& group) {
    const auto consider = [&](std::int32_t rank, const FlightOperation& operation) {
      if (operation.completed) return;
      const auto [entry, is_new] = heads_.try_emplace(rank, &operation);
      if (!is_new && operation.record < entry->second->record) entry->second = &operation;
    };
    for (const auto& [rank, member] : group.members) {
      for (const auto& [sequence, call] : member.calls) consider(rank, *call);
      for (const FlightOperation* operation : member.p2p) consider(rank, *operation);
    }
  }
  bool is_behind_another(std::int32_t rank, const FlightOperation& operation) const {
    const auto head = heads_.find(rank);
    if (head == heads_.end() || operation.record <= head->second->record) return false;
    return !(operation.p2p && head->second->p2p && operation.sequence == head->second->sequence &&
             operation.p2p_sequence == head->second->p2p_sequence);
  }
  // It waits in a call itself, but not for one that waits for it.
  bool waits_elsewhere(std::int32_t rank, const Ranks& waits_for) const {
    const auto head = heads_.find(rank);
    return head != heads_.end() && waits_long(*head->second, dumps_.at(rank).written) &&
           !stuck_.contains(rank) && !mismatched_.contains(rank) && !waits_for.contains(rank);
  }

  // Steps 3 to 5 of the method, for one group.
  void judge(const GroupState& group) {
    if (!group.sequence || !hangs(group)) return;
    Judged judged{&group, Kind::unknown, {}, {}};
    if (!group.absent.empty()) {
      judged.kind = Kind::absent;
      judged.suspects = group.absent;
    } else {
      std::map<std::int32_t, const FlightOperation*> calls;
      for (const std::int32_t rank : group.ranks) {
        const auto* const call = group.call(rank);
        if (call != nullptr && !call->name.empty()) calls[rank] = call;
      }
      judged.mismatch = find_mismatch(calls, group.ranks.size());
      if (!judged.mismatch.difference.empty()) {
        judged.kind = Kind::mismatch;
        judged.suspects = judged.mismatch.ranks;
      } else if (!group.done.empty()) {
        judged.kind = Kind::stuck;
        judged.suspects = group.waiting;
      }
    }
    for (const std::int32_t rank : judged.suspects) {
      const auto* const call = group.call(rank);
      const std::int64_t record = call == nullptr ? kNever : call->record;
      const auto [entry, is_new] = accused_.try_emplace(rank, record);
      if (!is_new) entry->second = std::min(entry->second, record);
      if (judged.kind == Kind::stuck) stuck_.insert(rank);
      if (judged.kind == Kind::mismatch) mismatched_.insert(rank);
    }
    judged_.push_back(std::move(judged));
  }

  void judge_p2p(const GroupState& group) {
    for (const auto& [rank, member] : group.members) {
      for (const FlightOperation* operation : member.p2p) {
        if (operation->completed || !waits_long(*operation, dumps_.at(rank).written)) continue;
        const auto peer = peer_of(operation->name);
        if (!peer || peer->peer >= group.ranks.size()) continue;
        p2p_waits_ = true;
        waiting_.insert(rank);
        const std::int32_t other = group.ranks[peer->peer];
        const auto counterpart = group.members.find(other);
        if (is_behind_another(rank, *operation)) continue;
        if (counterpart == group.members.end()) {
          note_unknown(rank, operation->record);
        } else if (!has_counterpart(group, counterpart->second, *operation, *peer, rank)) {
          edges_[rank].emplace(other, operation->record);
          behind_.emplace(other, std::pair{&group, operation});
        }
      }
    }
  }
  // The other side is in the matching call, or was in one that began later than this.
  bool has_counterpart(const GroupState& group, const MemberState& other,
                       const FlightOperation& operation, const Peer& peer,
                       std::int32_t rank) const {
    return std::ranges::any_of(other.p2p, [&](const FlightOperation* theirs) {
      const auto back = peer_of(theirs->name);
      if (!back || back->sends == peer.sends || back->peer >= group.ranks.size()) return false;
      if (group.ranks[back->peer] != rank || theirs == &operation) return false;
      if (!theirs->completed) return !is_behind_another(group.ranks[peer.peer], *theirs);
      return theirs->created >= operation.created;
    });
  }

  void note_unknown(std::int32_t rank, std::int64_t record) {
    const auto [entry, is_new] = waits_for_unknown_.try_emplace(rank, record);
    if (!is_new) entry->second = std::min(entry->second, record);
  }

  // Who waits for whom: the second of an edge is the record of the call that waits.
  void draw_edges(const Judged& judged) {
    const GroupState& group = *judged.group;
    for (const auto& [rank, member] : group.members) {
      const auto pending = member.first_pending();
      if (!pending) continue;
      waiting_.insert(rank);
      const std::int64_t record = member.calls.at(*pending)->record;
      if (judged.suspects.contains(rank)) continue;
      for (const std::int32_t suspect : judged.suspects) edges_[rank].emplace(suspect, record);
      if (!judged.suspects.empty()) continue;
      if (!group.unknown.empty()) note_unknown(rank, record);
      if (is_behind_another(rank, *member.calls.at(*pending))) continue;
      for (const std::int32_t other : group.waiting) {
        if (is_behind_another(other, *group.call(other))) edges_[rank].emplace(other, record);
      }
      // All wait here: for those who cannot finish something else.
      for (const std::int32_t other : group.ranks) {
        if (stuck_.contains(other) && !stuck_.contains(rank)) edges_[rank].emplace(other, record);
      }
    }
  }

  // Whom this rank waits for, directly or through others, with calls older than `before`.
  Ranks reachable(std::int32_t from, std::int64_t before) const {
    Ranks seen;
    std::vector<std::int32_t> open;
    const auto follow = [&](std::int32_t rank, std::int64_t limit) {
      const auto edges = edges_.find(rank);
      if (edges == edges_.end()) return;
      for (const auto& [to, record] : edges->second) {
        if (record < limit && seen.insert(to).second) open.push_back(to);
      }
    };
    follow(from, before);
    while (!open.empty()) {
      const std::int32_t rank = open.back();
      open.pop_back();
      follow(rank, kNever);
    }
    return seen;
  }

  bool waits_for_unknown(std::int32_t rank, std::int64_t before) const {
    const auto found = waits_for_unknown_.find(rank);
    return found != waits_for_unknown_.end() && found->second < before;
  }

  // An accused rank that itself waits for another accused one, or for one that is not known, in an
  // older call, is a victim.
  void accuse_sinks() {
    std::map<std::int32_t, Ranks> reach;
    for (const auto& [rank, record] : accused_) reach[rank] = reachable(rank, record);
    Ranks sinks;
    for (const auto& [rank, record] : accused_) {
      const Ranks& waits_for = reach.at(rank);
      const bool victim = std::ranges::any_of(waits_for, [&, suspect = rank](std::int32_t other) {
        const auto accused = reach.find(other);
        return other != suspect && accused != reach.end() && !accused->second.contains(suspect);
      });
      const bool uncertain = waits_for_unknown(rank, record) ||
                             std::ranges::any_of(waits_for, [&](std::int32_t other) {
                               return waits_for_unknown(other, kNever);
                             });
      if (!victim && !uncertain && !waits_elsewhere(rank, waits_for)) sinks.insert(rank);
    }
    const Judged* main = nullptr;
    std::size_t most = 0;
    for (const Judged& judged : judged_) {
      std::size_t named = 0;
      for (const std::int32_t rank : judged.suspects) {
        if (!sinks.contains(rank)) continue;
        ++named;
        ++finding_.votes[rank];
      }
      const bool more = named > most || (named == most && named > 0 && is_earlier(judged, *main));
      if (more) main = &judged;
      most = std::max(most, named);
    }
    if (main == nullptr) return describe_largest();
    finding_.suspects = std::move(sinks);
    finding_.kind = main->kind;
    describe(*main->group);
    describe_mismatch(*main);
    set_confidence(*main->group);
  }

  void set_confidence(const GroupState& group) {
    const bool agreed = std::ranges::all_of(
        finding_.suspects, [this](std::int32_t rank) { return finding_.votes[rank] >= 2; });
    const bool world = group.ranks.size() == finding_.dumped.size() + finding_.missing.size();
    const bool high = group.no_dump.empty() && (agreed || world);
    finding_.confidence = high ? HangFinding::Confidence::high : HangFinding::Confidence::medium;
  }

  // Exactly one rank of all has no dump, and everyone else in its group waits.
  bool accuse_missing() {
    if (finding_.missing.size() != 1) return false;
    for (const Judged& judged : judged_) {
      const GroupState& group = *judged.group;
      if (group.unknown != finding_.missing) continue;
      finding_.kind = Kind::no_dump;
      finding_.suspects = finding_.missing;
      ++finding_.votes[*finding_.missing.begin()];
      if (finding_.group.empty()) describe(group);
    }
    return finding_.kind == Kind::no_dump;
  }

  // A rank that others wait for in a send or receive, and that waits for nobody itself.
  void accuse_behind() {
    for (const auto& [rank, call] : behind_) {
      if (waiting_.contains(rank) || edges_.contains(rank)) continue;
      finding_.suspects.insert(rank);
      ++finding_.votes[rank];
      if (finding_.kind != Kind::behind) describe(*call.first, *call.second);
      finding_.kind = Kind::behind;
      finding_.confidence = HangFinding::Confidence::medium;
    }
    if (finding_.kind != Kind::behind) describe_largest();
  }

  void describe_largest() {
    const Judged* first = nullptr;
    for (const Judged& judged : judged_) {
      if (first == nullptr || judged.group->ranks.size() > first->group->ranks.size() ||
          (judged.group->ranks.size() == first->group->ranks.size() && is_earlier(judged, *first)))
        first = &judged;
    }
    if (first == nullptr) return;
    describe(*first->group);
  }

  static Time since(const GroupState& group) {
    Time first = kNoTime;
    for (const std::int32_t rank : group.waiting) {
      const Time created = group.call(rank)->created;
      if (created != kNoTime && (first == kNoTime || created < first)) first = created;
    }
    return first;
  }
  static bool is_earlier(const Judged& a, const Judged& b) {
    return std::pair(since(*a.group), a.group->name) < std::pair(since(*b.group), b.group->name);
  }

  // By the call of a rank with a dump, if one waits.
  void describe(const GroupState& group) {
    const auto named = std::ranges::find_if(
        group.waiting, [&](std::int32_t rank) { return !group.call(rank)->name.empty(); });
    describe(group, *group.call(named == group.waiting.end() ? *group.waiting.begin() : *named));
  }

  void describe(const GroupState& group, const FlightOperation& call) {
    finding_.group = group.name;
    finding_.description = group.description;
    finding_.sequence = call.p2p ? call.p2p_sequence : call.sequence;
    finding_.collective = call.name;
    finding_.group_ranks = group.ranks.size();
    finding_.waiting = group.waiting;
    finding_.done = group.done;
    finding_.absent = group.absent;
    finding_.unknown = group.unknown;
    finding_.sizes = shapes_text(call.inputs) + " -> " + shapes_text(call.outputs);
    finding_.types = call.input_types.empty() ? std::string{} : call.input_types.front();
    finding_.timeout_ms = call.timeout_ms;
    finding_.frames = call.frames;
    finding_.since = group.waiting.empty() ? call.created : since(group);
  }

  void describe_mismatch(const Judged& judged) {
    if (judged.kind != Kind::mismatch) return;
    finding_.difference = judged.mismatch.difference;
    finding_.collective = judged.mismatch.usual;
    const auto* const theirs = judged.group->call(*judged.suspects.begin());
    finding_.other_collective = theirs->name;
  }

  void describe_all() {
    for (const auto& [rank, dump] : dumps_) {
      finding_.dumped.insert(rank);
      finding_.at = std::max(finding_.at, dump.written);
    }
    for (const GroupState& group : groups_) {
      finding_.missing.insert(group.no_dump.begin(), group.no_dump.end());
    }
    for (const Judged& judged : judged_) {
      for (const std::int32_t rank : judged.group->waiting) {
        finding_.timed_out |= judged.group->call(rank)->retired;
      }
    }
    finding_.groups_waiting = judged_.size();
    finding_.waiting_all = waiting_;
  }

  const Dumps& dumps_;
  std::vector<GroupState> groups_;
  std::vector<Judged> judged_;                    // that hang
  std::map<std::int32_t, std::int64_t> accused_;  // the record of the first call that accuses
  Ranks stuck_;
  Ranks mismatched_;
  std::map<std::int32_t, const FlightOperation*> heads_;  // the first pending call of a rank
  Ranks waiting_;
  bool p2p_waits_ = false;
  std::map<std::int32_t, std::set<std::pair<std::int32_t, std::int64_t>>> edges_;
  std::map<std::int32_t, std::int64_t> waits_for_unknown_;  // the record of the first such call
  std::map<std::int32_t, std::pair<const GroupState*, const FlightOperation*>> behind_;
  HangFinding finding_;
};

}  // namespace

HangFinding analyze_hang(const std::map<std::int32_t, RankDump>& dumps,
                         const WatchdogLines& lines) {
  const Dumps of_lines = dumps_of_lines(lines, dumps);
  if (of_lines.empty()) return HangAnalysis(dumps).run();
  Dumps all = dumps;
  all.insert(of_lines.begin(), of_lines.end());
  HangFinding found = HangAnalysis(all).run();
  for (const auto& [rank, dump] : of_lines) {
    found.dumped.erase(rank);
    found.missing.insert(rank);
    found.from_lines.insert(rank);
  }
  for (const auto& [rank, own] : lines) {
    const bool stuck = std::ranges::any_of(
        own, [](const WatchdogLine& line) { return line.kind == WatchdogLine::Kind::stuck; });
    if (stuck) found.watchdog_stuck.insert(rank);
  }
  found.group = shown_group(found.group);
  if (!dumps.empty()) return found;
  // Who else is in the group is not known.
  found.lines_only = true;
  found.group_ranks = 0;
  found.confidence = std::min(found.confidence, HangFinding::Confidence::medium);
  return found;
}

}  // namespace trainwatch

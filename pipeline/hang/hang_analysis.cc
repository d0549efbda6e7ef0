// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/hang_analysis.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/hang/call_mismatch.h"
#include "pipeline/hang/call_text.h"
#include "pipeline/hang/group_state.h"
#include "pipeline/hang/wait_graph.h"

namespace trainwatch {
namespace {

using Kind = HangFinding::Kind;
using Dumps = std::map<std::int32_t, RankDump>;
using Ranks = std::set<std::int32_t>;

// The first collective of a group that is not complete everywhere.
struct Judged {
  const GroupState* group = nullptr;
  Kind kind = Kind::unknown;
  Ranks suspects;
  CallMismatch mismatch;
};

class HangAnalysis {
 public:
  explicit HangAnalysis(const Dumps& dumps)
      : dumps_(dumps), groups_(group_states(dumps)), graph_(wait_graph(groups_, dumps)) {}

  HangFinding run() {
    for (const GroupState& group : groups_) judge(group);
    describe_all();
    if (judged_.empty() && graph_.waiting.empty()) return finding_;
    finding_.kind = Kind::unknown;
    for (const WaitEnd& end : graph_.ends) accuse(end);
    if (!finding_.suspects.empty()) {
      describe_accused();
    } else {
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
    judged_.push_back(std::move(judged));
  }

  // A call that all have begun, and that differs, is the mismatch of its group.
  void accuse(const WaitEnd& end) {
    if (end.kind == Kind::absent || end.kind == Kind::stuck) {
      finding_.suspects.insert(end.ranks.begin(), end.ranks.end());
      return;
    }
    if (end.kind != Kind::unknown || end.call == nullptr || end.call->p2p) return;
    const auto judged = std::ranges::find(judged_, end.group, &Judged::group);
    if (judged == judged_.end() || judged->kind != Kind::mismatch) return;
    if (end.call->sequence != end.group->sequence) return;
    finding_.suspects.insert(judged->suspects.begin(), judged->suspects.end());
  }

  // By the group that accuses most of them, else by the call that they are stuck in.
  void describe_accused() {
    const Judged* main = nullptr;
    std::size_t most = 0;
    for (const Judged& judged : judged_) {
      std::size_t named = 0;
      for (const std::int32_t rank : judged.suspects) {
        if (!finding_.suspects.contains(rank)) continue;
        ++named;
        ++finding_.votes[rank];
      }
      const bool more = named > most || (named == most && named > 0 && is_earlier(judged, *main));
      if (more) main = &judged;
      most = std::max(most, named);
    }
    if (main == nullptr) return describe_stuck_send();
    finding_.kind = main->kind;
    describe(*main->group);
    describe_mismatch(*main);
    set_confidence(*main->group);
  }

  void describe_stuck_send() {
    for (const WaitEnd& end : graph_.ends) {
      if (end.kind != Kind::absent && end.kind != Kind::stuck) continue;
      for (const std::int32_t rank : end.ranks) ++finding_.votes[rank];
      if (finding_.kind != Kind::unknown) continue;
      finding_.kind = end.kind;
      describe(*end.group, *end.call);
      finding_.confidence = HangFinding::Confidence::medium;
    }
  }

  void set_confidence(const GroupState& group) {
    const bool agreed = std::ranges::all_of(
        finding_.suspects, [this](std::int32_t rank) { return finding_.votes[rank] >= 2; });
    const bool world = group.ranks.size() == finding_.dumped.size() + finding_.missing.size();
    const bool high = group.no_dump.empty() && (agreed || world);
    finding_.confidence = high ? HangFinding::Confidence::high : HangFinding::Confidence::medium;
  }

  // A rank that others wait for in a send or receive, and that waits for nobody itself.
  void accuse_behind() {
    for (const WaitEnd& end : graph_.ends) {
      if (end.kind != Kind::behind) continue;
      for (const std::int32_t rank : end.ranks) ++finding_.votes[rank];
      finding_.suspects.insert(end.ranks.begin(), end.ranks.end());
      if (finding_.kind != Kind::behind) describe(*end.group, *end.call);
      finding_.kind = Kind::behind;
      finding_.confidence = HangFinding::Confidence::medium;
    }
    if (finding_.kind != Kind::behind) describe_largest();
  }

  // Rather one in which all wait but the only rank without a dump.
  void describe_largest() {
    const auto said = [&](const Judged& judged) {
      return finding_.missing.size() == 1 && judged.group->unknown == finding_.missing;
    };
    const Judged* first = nullptr;
    for (const Judged& judged : judged_) {
      if (first != nullptr && said(*first) != said(judged)) {
        if (said(judged)) first = &judged;
      } else if (first == nullptr || judged.group->ranks.size() > first->group->ranks.size() ||
                 (judged.group->ranks.size() == first->group->ranks.size() &&
                  is_earlier(judged, *first))) {
        first = &judged;
      }
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
    finding_.waiting_all = graph_.waiting;
  }

  const Dumps& dumps_;
  std::vector<GroupState> groups_;
  WaitGraph graph_;
  std::vector<Judged> judged_;  // that hang
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

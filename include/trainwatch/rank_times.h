// SPDX-License-Identifier: Apache-2.0
// The own time of each rank of a job in one step: its duration without waiting for the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "trainwatch/cycle_summary.h"

namespace trainwatch {

// What is known of one rank.
struct RankPart {
  std::int64_t duration_ns = 0;               // of the step
  std::int64_t exposed_communication_ns = 0;  // with nothing computed or copied meanwhile
  std::span<const CollectiveSummary> collectives{};

  RankPart(std::int64_t duration, std::int64_t exposed_communication,
           std::span<const CollectiveSummary> with)
      : duration_ns(duration), exposed_communication_ns(exposed_communication), collectives(with) {}
  explicit RankPart(const StepSummary& step)
      : RankPart(step.duration_ns, step.waited_communication_ns(), step.collectives) {}
};

struct RankTimes {
  std::vector<std::int64_t> own_ns;  // in the order of the ranks
  // Collectives that all or some of the ranks took part in, matched by process group and number. 0:
  // the writers do not say which they are.
  std::uint32_t matched = 0;
  std::vector<std::uint32_t> last;  // of these, to how many each rank came last
};

namespace detail {

// Of one collective, over the ranks that took part.
struct Meeting {
  std::uint32_t ranks = 0;
  std::size_t last_rank = 0;  // took part for the shortest time: the others waited for it
  std::int64_t shortest_ns = 0;
  std::int64_t least_exposed_ns = 0;

  void add(std::size_t rank, const CollectiveSummary& part) {
    if (ranks == 0 || part.duration_ns < shortest_ns) {
      shortest_ns = part.duration_ns;
      last_rank = rank;
    }
    least_exposed_ns = ranks == 0 ? part.exposed_ns : std::min(least_exposed_ns, part.exposed_ns);
    ++ranks;
  }
};

class Meetings {
 public:
  explicit Meetings(std::span<const RankPart> ranks) {
    std::map<std::uint64_t, std::size_t> latest;  // rank that was seen in each group
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (const CollectiveSummary& part : ranks[i].collectives) {
        meetings_[{part.group, part.sequence}].add(i, part);
        const auto [seen, first] = latest.try_emplace(part.group, i);
        if (first || seen->second != i) ++group_ranks_[part.group];
        seen->second = i;
      }
    }
  }

  bool is_complete(const Meeting& meeting, std::uint64_t group) const {
    return meeting.ranks == group_ranks_.at(group) && meeting.ranks > 1;
  }
  // Calls `each(meeting)` for those that all ranks of their group have in this step.
  template <class Each>
  void each_complete(Each&& each) const {
    for (const auto& [which, meeting] : meetings_) {
      if (is_complete(meeting, which.first)) each(meeting);
    }
  }
  // How long a rank waited for the others. Hosts that run ahead of their devices may have the same
  // collective in different steps: then all of it that is exposed counts.
  std::int64_t waited_ns(const CollectiveSummary& part) const {
    if (group_ranks_.at(part.group) < 2) return 0;
    const Meeting& meeting = meetings_.at({part.group, part.sequence});
    if (!is_complete(meeting, part.group)) return part.exposed_ns;
    return std::min(part.duration_ns - meeting.shortest_ns,
                    part.exposed_ns - meeting.least_exposed_ns);
  }
  bool empty() const {
    return std::ranges::all_of(group_ranks_, [](const auto& group) { return group.second < 2; });
  }

 private:
  std::map<std::pair<std::uint64_t, std::int64_t>, Meeting> meetings_;
  std::map<std::uint64_t, std::uint32_t> group_ranks_;
};

}  // namespace detail

// A collective ends for all ranks at once, so the longer a rank took part, the longer it waited;
// but it waited only while it did nothing else: what computation hides costs nothing, and what even
// the rank with the least is exposed to is transfer. If collectives cannot be matched, all exposed
// communication counts as waiting. O(n log n).
inline RankTimes own_times(std::span<const RankPart> ranks) {
  RankTimes times;
  const detail::Meetings meetings(ranks);
  times.last.resize(ranks.size());
  meetings.each_complete([&times](const detail::Meeting& meeting) {
    ++times.matched;
    ++times.last[meeting.last_rank];
  });
  for (const RankPart& rank : ranks) {
    std::int64_t waited = meetings.empty() ? rank.exposed_communication_ns : 0;
    if (!meetings.empty()) {
      for (const CollectiveSummary& part : rank.collectives) waited += meetings.waited_ns(part);
    }
    times.own_ns.push_back(std::max<std::int64_t>(rank.duration_ns - waited, 0));
  }
  return times;
}

}  // namespace trainwatch

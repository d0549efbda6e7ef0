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
  std::int64_t duration_ns = 0;  // of the step
  std::int64_t communication_ns = 0;
  std::span<const CollectiveSummary> collectives{};

  RankPart(std::int64_t duration, std::int64_t communication,
           std::span<const CollectiveSummary> with)
      : duration_ns(duration), communication_ns(communication), collectives(with) {}
  explicit RankPart(const StepSummary& step)
      : RankPart(step.duration_ns, step.communication_ns, step.collectives) {}
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
};

using Meetings = std::map<std::pair<std::uint64_t, std::int64_t>, Meeting>;

inline Meetings meetings_of(std::span<const RankPart> ranks) {
  Meetings meetings;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const CollectiveSummary& part : ranks[i].collectives) {
      Meeting& meeting = meetings[{part.group, part.sequence}];
      if (meeting.ranks == 0 || part.duration_ns < meeting.shortest_ns) {
        meeting.shortest_ns = part.duration_ns;
        meeting.last_rank = i;
      }
      ++meeting.ranks;
    }
  }
  std::erase_if(meetings, [](const auto& entry) { return entry.second.ranks < 2; });
  return meetings;
}

}  // namespace detail

// A collective ends for all ranks at once, so the longer a rank took part, the longer it waited. If
// collectives cannot be matched, all communication counts as waiting. O(n log n).
inline RankTimes own_times(std::span<const RankPart> ranks) {
  RankTimes times;
  const detail::Meetings meetings = detail::meetings_of(ranks);
  times.matched = static_cast<std::uint32_t>(meetings.size());
  times.last.resize(ranks.size());
  for (const auto& [which, meeting] : meetings) ++times.last[meeting.last_rank];
  for (const RankPart& rank : ranks) {
    std::int64_t waited = meetings.empty() ? rank.communication_ns : 0;
    for (const CollectiveSummary& part : rank.collectives) {
      const auto meeting = meetings.find({part.group, part.sequence});
      if (meeting != meetings.end()) waited += part.duration_ns - meeting->second.shortest_ns;
    }
    times.own_ns.push_back(std::max<std::int64_t>(rank.duration_ns - waited, 0));
  }
  return times;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/silent_ranks.h"

#include <algorithm>
#include <set>

#include "pipeline/hang/hang_tracker.h"

namespace trainwatch {
namespace {

constexpr std::size_t kWaitingForEach = 4;  // silent rank, unless there is only one

bool is_of_all_ranks(const HangFinding& found) {
  return found.group.empty() || found.group == "0" || found.description == "default_pg";
}

}  // namespace

void name_silent_ranks(HangFinding& found, std::uint32_t world_size) {
  const bool open = found.kind == HangFinding::Kind::unknown && found.lines_only &&
                    found.suspects.empty() && is_of_all_ranks(found) && found.waiting.size() > 1;
  if (!open || found.waiting != found.from_lines) return;
  const auto ranks =
      std::max<std::size_t>(world_size, static_cast<std::size_t>(*found.waiting.rbegin()) + 1);
  if (ranks > HangTracker::kMostRanks) return;
  std::set<std::int32_t> silent;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(ranks); ++rank) {
    if (!found.waiting.contains(rank)) silent.insert(rank);
  }
  const bool few = silent.size() == 1 || silent.size() * kWaitingForEach <= found.waiting.size();
  if (silent.empty() || !few) return;
  found.kind = HangFinding::Kind::silent;
  found.confidence = HangFinding::Confidence::low;
  found.suspects = std::move(silent);
}

}  // namespace trainwatch

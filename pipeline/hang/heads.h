// SPDX-License-Identifier: Apache-2.0
// What each rank waits in: the first of its pending calls.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/hang/group_state.h"

namespace trainwatch {

// The first pending call of a rank. The parts of a coalesced block go together.
struct Head {
  std::vector<std::pair<const GroupState*, const FlightOperation*>> parts;
  bool waits_long = false;
  bool certain = false;  // the dump shows that there is none before

  const FlightOperation& first() const { return *parts.front().second; }
};

// By rank; a rank that has no pending call is not in it. Refers to `groups`, which are those of
// `dumps`. A head is certain if all of its groups say so, if a completed call is seen before it, or
// if there is room left in the dump: all ranks of a job have a buffer of the same size.
std::map<std::int32_t, Head> find_heads(const std::vector<GroupState>& groups,
                                        const std::map<std::int32_t, RankDump>& dumps);

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// Who waits for whom over all process groups of a job, and where the waiting ends.
//
// A GPU does the calls of its rank one after the other, as far as can be seen: a rank waits in the
// first of its pending calls, its head, and those behind it have not begun. A call waits for the
// members that have not begun it. From every rank that waits, these steps lead to an end: a rank
// that waits for nobody, or a call that all have begun.
//
// Whether a peer has made the send or receive that another one waits for is often not in its dump,
// which keeps the last operations only. A program that does not lock itself up cannot have two
// calls that wait for each other: if the peer waits for the rank, it has made its part before.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "pipeline/hang/group_state.h"
#include "trainwatch/hang.h"

namespace trainwatch {

// Where the waiting of some ranks ends.
struct WaitEnd {
  // absent: of a collective. stuck: others have finished the call. behind: of a send or receive.
  // unknown: all have begun the call, or it cannot be seen what they wait for.
  HangFinding::Kind kind = HangFinding::Kind::unknown;
  std::set<std::int32_t> ranks;
  const GroupState* group = nullptr;      // of the call
  const FlightOperation* call = nullptr;  // that waits for the ranks, or that they wait in
};

struct WaitGraph {
  std::set<std::int32_t> waiting;  // ranks
  std::vector<WaitEnd> ends;
};

// Refers to `groups`, which are those of `dumps`.
WaitGraph wait_graph(const std::vector<GroupState>& groups,
                     const std::map<std::int32_t, RankDump>& dumps);

}  // namespace trainwatch

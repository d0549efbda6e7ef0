// SPDX-License-Identifier: Apache-2.0
// Which send belongs to which receive.
//
// Sends and receives of a pair of ranks carry no common number, but match in their order. Counting
// begins behind the last collective that both ranks have completed: a program makes its sends and
// receives of a step before the collectives that end it. Where the count before it does not agree,
// or there is no such collective, nothing is said.
#pragma once

#include <cstdint>
#include <span>

#include "pipeline/hang/group_state.h"

namespace trainwatch {

enum class Counterpart : std::uint8_t {
  unknown,
  missing,  // the peer has not called it
  pending,
  done,
};

// Of a send or receive of `rank` in `group`, to or from `peer`; both have a dump. `own_groups`: all
// groups of `rank`.
Counterpart find_counterpart(std::span<const GroupState* const> own_groups, const GroupState& group,
                             std::int32_t rank, const FlightOperation& operation,
                             std::int32_t peer);

// Whether an operation of `peer` goes the other way: "recv 3<-0" of rank 3 for "send 0->3" of 0.
bool is_other_end(const GroupState& group, std::int32_t rank, const FlightOperation& operation,
                  std::int32_t peer, const FlightOperation& theirs);

}  // namespace trainwatch

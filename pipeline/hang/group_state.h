// SPDX-License-Identifier: Apache-2.0
// Where the ranks of one process group are, from their dumps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"

namespace trainwatch {

// A send or receive; a part of a coalesced block is complete when its block is.
struct P2pCall {
  const FlightOperation* operation = nullptr;
  bool completed = false;
};

// One rank in one group.
struct MemberState {
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
  bool known = false;                                    // the two above are
  std::map<std::int64_t, const FlightOperation*> calls;  // collectives by sequence number
  std::vector<P2pCall> p2p;                              // in the order of their records
  bool shortened = false;                                // not all in the dump are here
  // Whether the first pending call is here; a dump has the last ones only.
  enum class First : std::uint8_t { unknown, here, lost };
  First first = First::unknown;

  std::optional<std::int64_t> first_pending() const;
};

// Refers to the dumps that it was made from.
struct GroupState {
  std::string name;
  std::string description;
  std::vector<std::int32_t> ranks;              // sorted
  std::map<std::int32_t, MemberState> members;  // with a dump that knows the group
  std::set<std::int32_t> no_dump;

  // The first collective that is pending on some rank, and who is where.
  std::optional<std::int64_t> sequence;
  std::set<std::int32_t> waiting;
  std::set<std::int32_t> done;
  std::set<std::int32_t> absent;
  std::set<std::int32_t> unknown;

  const FlightOperation* call(std::int32_t rank) const;  // at `sequence`, or null

  enum class Place : std::uint8_t {
    waiting,  // has called it; it is not complete
    done,
    absent,  // has not called it
    unknown,
  };
  Place place_of(std::int32_t rank, std::int64_t at) const;
};

// A group is its name and its ranks: a name alone is used for several.
std::vector<GroupState> group_states(const std::map<std::int32_t, RankDump>& dumps);

// Whether the operation, not complete in a dump of this time, waits for longer than those of a job
// that is well. True if that is not known.
bool waits_long(const FlightOperation& operation, Time written);

}  // namespace trainwatch

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

// One rank in one group.
struct MemberState {
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
  bool known = false;                                    // the two above are
  std::map<std::int64_t, const FlightOperation*> calls;  // collectives by sequence number
  // The sends and receives that are pending, and the last completed one of each kind.
  std::vector<const FlightOperation*> p2p;

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
};

// A group is its name and its ranks: a name alone is used for several.
std::vector<GroupState> group_states(const std::map<std::int32_t, RankDump>& dumps);

// Whether the operation, not complete in a dump of this time, waits for longer than those of a job
// that is well. True if that is not known.
bool waits_long(const FlightOperation& operation, Time written);

}  // namespace trainwatch

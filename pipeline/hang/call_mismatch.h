// SPDX-License-Identifier: Apache-2.0
// Whether the ranks of a group called the same collective in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "pipeline/decode/flight_recorder/flight_dump.h"

namespace trainwatch {

struct CallMismatch {
  std::set<std::int32_t> ranks;  // one against the rest, or all where none stands alone
  std::string difference;        // "operation", "sizes", "types"; empty: none found
  std::string usual;             // the operation of the others
};

// The calls of the ranks that made one, of `members` in all. Where not all are known, a rank is
// named only if most of all members differ from it.
CallMismatch find_mismatch(const std::map<std::int32_t, const FlightOperation*>& calls,
                           std::size_t members);

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// What the lines of NCCL's watchdog say of ranks without a dump, in the form of dumps: they can
// then be judged together with those that there are.
//
// The members of a group are as the dumps have them; without any dump, those who are known to be
// in it from lines. A rank that no line is about is not in the result, so that nothing is concluded
// from a line that is missing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/decode/flight_recorder/watchdog_line.h"

namespace trainwatch {

using WatchdogLines = std::map<std::int32_t, std::vector<WatchdogLine>>;  // by rank

// Of the ranks that have lines and are not in `dumps`.
std::map<std::int32_t, RankDump> dumps_of_lines(const WatchdogLines& lines,
                                                const std::map<std::int32_t, RankDump>& dumps);

// A call whose group is not known, or whose number is of a send or receive, is compared with the
// same call of other ranks only: it is in a group of its own, the name of which has more behind
// that of the group. Returns what a person may see of a name.
std::string shown_group(const std::string& name);

}  // namespace trainwatch

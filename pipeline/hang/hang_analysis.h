// SPDX-License-Identifier: Apache-2.0
// Who hangs, from the dumps of one job's ranks.
//
// The number of a collective in its group is the same on all ranks. For the first one that is not
// complete everywhere, each member waits in it, is done with it, or has not reached it. Those who
// have not reached it hold up the others; if there are none, those who still wait while others have
// finished do. Who is held up by others elsewhere is a victim. A rank without a dump is unknown,
// and nothing is concluded from what is not there.
#pragma once

#include <map>

#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/hang/watchdog_dumps.h"
#include "trainwatch/hang.h"

namespace trainwatch {

// By rank. The times of the dumps and lines are those of one incident. Lines count for ranks that
// have no dump.
HangFinding analyze_hang(const std::map<std::int32_t, RankDump>& dumps,
                         const WatchdogLines& lines = {});

}  // namespace trainwatch

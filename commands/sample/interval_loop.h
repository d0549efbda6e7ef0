// SPDX-License-Identifier: Apache-2.0
// Calls something at fixed times until there is a reason to stop.
#pragma once

#include <functional>

#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct LoopLimits {
  Nanos interval{};
  Nanos duration{};  // 0: no end
  int pid = 0;       // stop when this process ends; 0: none
};

// Calls `tick` with the monotonic time at once and then every `interval`, counted from the start,
// so that slow ticks do not shift later ones (a tick that comes too late is skipped, never
// doubled). Returns when `duration` is over, `pid` has ended, or SIGINT or SIGTERM came (both are
// blocked for the calling thread meanwhile), or with the error of the tick that failed.
Status run_at_interval(const LoopLimits& limits, const std::function<Status(Nanos)>& tick);

}  // namespace trainwatch

// `trainwatch timeline --counters`: profiler traces with tracks for queues and bandwidth.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// Returns the exit code of the command. The trace goes to the file that is asked for, or to `out`;
// everything else to `err`.
int timeline(const TimelineOptions& options, std::ostream& out, std::ostream& err);

}  // namespace trainwatch

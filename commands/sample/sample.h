// `trainwatch sample`: writes this host's CPU, memory, disk, network and GPU metrics as SageMaker's
// system-metrics files, so that a job outside SageMaker has them too.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// Runs until stopped (interval_loop.h). What this machine lacks is reported once on `err`.
// Returns the exit code: 0, or 1 when it could not read or write.
int sample(const SampleOptions& options, std::ostream& err);

}  // namespace trainwatch

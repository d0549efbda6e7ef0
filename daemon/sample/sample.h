// `trainwatch sample`: writes this host's CPU, memory, disk, network and GPU figures as SageMaker's
// system-metrics files, so that a job outside SageMaker has them too.
#pragma once

#include <iosfwd>

#include "daemon/cli/options.h"

namespace trainwatch {

// Runs until told to stop (interval_loop.h). What is missing on this machine is said once on `err`.
// Returns the exit code: 0, or 1 when it could not read or write.
int sample(const SampleOptions& options, std::ostream& err);

}  // namespace trainwatch

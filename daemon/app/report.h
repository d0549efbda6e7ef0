// `trainwatch report`: what old files say of a job, as one HTML page.
#pragma once

#include <iosfwd>

#include "daemon/cli/options.h"

namespace trainwatch {

// Returns the exit code of the command. The page goes to the file that is asked for, or to `out`;
// everything else to `err`.
int report(const ReportOptions& options, std::ostream& out, std::ostream& err);

}  // namespace trainwatch

// `trainwatch report`: one HTML page about a job, from finished files.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// Returns the exit code of the command. The page goes to the file that is asked for, or to `out`;
// everything else to `err`.
int report(const ReportOptions& options, std::ostream& out, std::ostream& err);

}  // namespace trainwatch

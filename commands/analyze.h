// `trainwatch analyze`: analyses of finished files, as one JSON object.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// Returns the exit code of the command. The object goes to `out`, everything else to `err`.
int analyze(const AnalyzeOptions& options, std::ostream& out, std::ostream& err);

}  // namespace trainwatch

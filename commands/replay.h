// `trainwatch replay`: finished files through the same pipeline as live ones, as fast as they can
// be read, alerts as JSON lines in commit order.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// Returns the exit code of the command. Alerts go to `out`, everything else to `err`.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

}  // namespace trainwatch

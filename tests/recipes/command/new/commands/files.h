// `trainwatch files PATH...`: what is in each file.
#pragma once

#include <iosfwd>

#include "commands/cli/options.h"

namespace trainwatch {

// One line per file. Returns the exit code.
int files(const FilesOptions& options, std::ostream& out, std::ostream& err);

}  // namespace trainwatch

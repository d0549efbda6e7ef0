// `trainwatch analyze CONTROL TEST --what=trace_diff`: what differs between two traces, by the
// names of their events.
#pragma once

#include <iosfwd>
#include <string>
#include <variant>

#include "commands/cli/options.h"
#include "trainwatch/figures.h"

namespace trainwatch {

// Reads `options.paths`, which are two, one after the other. The result; or the exit code of
// a command that failed, with the reason on `err`.
std::variant<Figures, int> compare_traces(const AnalyzeOptions& options, std::ostream& err);

}  // namespace trainwatch

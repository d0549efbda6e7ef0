// `trainwatch analyze CONTROL TEST --what=trace_diff`: what differs between two traces, by the
// names of their events.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/cli/options.h"

namespace trainwatch {

inline constexpr std::string_view kTraceDiff = "trace_diff";
inline constexpr std::string_view kTraceDiffUsage =
    "trace_diff compares two traces, the control first: "
    "trainwatch analyze CONTROL TEST --what=trace_diff";

// Reads `options.paths`, which are two, one after the other. One JSON object; or the exit code of
// a command that cannot say it, with the reason on `err`.
std::variant<std::string, int> compare_traces(const AnalyzeOptions& options, std::ostream& err);

}  // namespace trainwatch

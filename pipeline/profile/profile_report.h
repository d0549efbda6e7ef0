// SPDX-License-Identifier: Apache-2.0
// The analysis `python_profile`: where a job's time went, by function.
#pragma once

#include <cstddef>
#include <string_view>

#include "pipeline/profile/profile_index.h"
#include "pipeline/profile/profile_name.h"
#include "trainwatch/figures.h"

namespace trainwatch {

// It reads files of its own, on request, not events.
inline constexpr std::string_view kPythonProfile = "python_profile";

struct ProfileReportOptions {
  ProfileQuery query;
  std::size_t top = 50;  // functions in each table
};

// The result as JSON:
//   {"nodes": [{"node", "rank"}…], "cprofile": PARTS, "pyinstrument": PARTS,
//    "rejected": [{"path", "reason"}…], "left_out": N}
//   PARTS: {"before_step_zero": PART, "training_loop": PART, "after_hook_close": PART,
//           "phases": [{"start_mode", "start_phase", "end_mode", "end_phase", …PART}…]}
//   PART: {"profiles", "functions", "dropped", "top_functions": {"columns": […], "rows": […]}} and
//     cprofile: "pcalls", "ncalls", "total_time_ns" over all functions
//     pyinstrument: "samples", "duration_ns"
// "left_out" counts files beyond the limits of the index and rejections beyond its list.
// Reads every profile that the query selects, one at a time; unreadable ones are rejected.
Figures python_profile(FileSystem& files, const ProfileIndex& index,
                       const ProfileReportOptions& options);

}  // namespace trainwatch

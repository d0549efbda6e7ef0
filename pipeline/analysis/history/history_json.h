// SPDX-License-Identifier: Apache-2.0
// The histories as the page and the report get them: /api/v1/steps, /heatmap and /histogram.
// Times are integer microseconds since the epoch, durations seconds. docs/api.md defines each
// field.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/analysis/history/chart_columns.h"
#include "pipeline/analysis/history/job_history.h"

namespace trainwatch {

// Iterations, their parts, and what they lost, by column; what happened at one time. As fine as is
// kept: single steps lately, columns of a second or 16 s before, and of a share of the job at
// first.
std::string steps_json(const std::string& name, const JobHistory& job, const ChartRange& range);

// The last `count` steps, the newest last.
std::string last_steps_json(const std::string& name, const JobHistory& job,
                            const Interner& interner, std::size_t count);

// A row for each rank: seconds per iteration, and the share of its time that it lost.
std::string rank_map_json(const std::string& name, const JobHistory& job, const Interner& interner,
                          const ChartRange& range);

// A row for each core and GPU: percent.
std::string usage_map_json(const std::string& name, const JobHistory& job, const Interner& interner,
                           const ChartRange& range);

// Iterations by how long they took.
std::string step_histogram_json(const std::string& name, const JobHistory& job,
                                const ChartRange& range);

// The samples of the whole job, by percent.
std::string usage_histogram_json(const std::string& name, const JobHistory& job);

}  // namespace trainwatch

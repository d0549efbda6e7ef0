// SPDX-License-Identifier: Apache-2.0
// What is known of a profiler's trace before its events are copied, and what its processes are
// called beside those of other traces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/trace_files.h"
#include "trainwatch/subject.h"

namespace trainwatch {

struct ProfilerTrace {
  TraceFile file;
  Subject subject;
  std::int64_t base_ns = 0;
  std::string label;  // of its processes
};

// Sets the labels and sorts by rank. All ranks belong to one job, unless two nodes have the same
// rank.
void label(std::vector<ProfilerTrace>& traces);

}  // namespace trainwatch

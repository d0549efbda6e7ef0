// Which runtime calls launch work, by name, and what each of them launched.
#pragma once

#include <string_view>

#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// A launch that counts, with the work on streams that came of it: more than one piece from a graph.
struct LaunchedWork {
  std::uint32_t launch = 0;  // index into CycleTrace::launches
  std::uint32_t rows = 0;
  std::int64_t device_ns = 0;       // sum over the rows
  std::int64_t first_start_ns = 0;  // of the earliest row
};

// In the order of CycleTrace::launches; waits for a stream or an event are not work. O(n).
std::vector<LaunchedWork> launched_work(const CycleTrace& cycle, DeviceRows rows);

// CUDA's asynchronous launches of kernels, copies and fills, and MTIA's: what HTA's launch
// statistics are about.
bool is_plain_launch(std::string_view name);
// As that, with the driver's launches, ROCm's, and graphs: what makes a queue.
bool is_queued_launch(std::string_view name);

}  // namespace trainwatch

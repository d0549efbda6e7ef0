// How much of the communication is hidden behind computation.
#pragma once

#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

struct CommCompOverlap {
  std::int64_t communication_ns = 0;
  std::int64_t overlapped_ns = 0;  // of it, while something is computed
};

// O(n log n).
CommCompOverlap comm_comp_overlap(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch

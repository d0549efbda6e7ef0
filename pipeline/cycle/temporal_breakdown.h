// How the time of a device divides: computing, busy with something else only, and idle.
#pragma once

#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

struct TemporalBreakdown {
  std::int64_t idle_ns = 0;         // no work on any stream
  std::int64_t compute_ns = 0;      // computation on some stream
  std::int64_t non_compute_ns = 0;  // communication, copies and waits that no computation hides
  std::int64_t kernel_ns = 0;       // from the first start to the last end: the sum of these
};

// All zero when there are no rows. O(n log n).
TemporalBreakdown temporal_breakdown(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch

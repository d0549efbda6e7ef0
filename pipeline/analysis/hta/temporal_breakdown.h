// How the time of a device divides: computing, busy with something else only, and idle; and how
// much of the communication is hidden behind computation.
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

struct CommCompOverlap {
  std::int64_t communication_ns = 0;
  std::int64_t overlapped_ns = 0;  // of it, while something is computed
};

// O(n log n).
CommCompOverlap comm_comp_overlap(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch

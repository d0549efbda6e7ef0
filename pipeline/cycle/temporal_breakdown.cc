#include "pipeline/cycle/temporal_breakdown.h"

#include "pipeline/cycle/work_intervals.h"

namespace trainwatch {

TemporalBreakdown temporal_breakdown(const CycleTrace& cycle, DeviceRows rows) {
  const IntervalSet all = busy_intervals(cycle, rows);
  const std::int64_t busy_ns = all.covered_ns();
  TemporalBreakdown found;
  found.kernel_ns = all.extent_ns();
  found.idle_ns = found.kernel_ns - busy_ns;
  found.compute_ns = work_intervals(cycle, rows, WorkClass::computation).covered_ns();
  found.non_compute_ns = busy_ns - found.compute_ns;
  return found;
}

}  // namespace trainwatch

#include "pipeline/cycle/temporal_breakdown.h"

#include "pipeline/cycle/work_sweep.h"

namespace trainwatch {

TemporalBreakdown temporal_breakdown(const CycleTrace& cycle, DeviceRows rows) {
  TemporalBreakdown found;
  sweep_work(cycle, rows_by_start(cycle, rows), [&found](const WorkSegment& segment) {
    const std::int64_t lasts = segment.end_ns - segment.start_ns;
    found.kernel_ns += lasts;
    if (segment.classes == 0) {
      found.idle_ns += lasts;
    } else if (segment.has(WorkClass::computation)) {
      found.compute_ns += lasts;
    } else {
      found.non_compute_ns += lasts;
    }
  });
  return found;
}

}  // namespace trainwatch

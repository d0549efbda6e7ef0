#include "pipeline/cycle/comm_comp_overlap.h"

#include "pipeline/cycle/work_sweep.h"

namespace trainwatch {

CommCompOverlap comm_comp_overlap(const CycleTrace& cycle, DeviceRows rows) {
  CommCompOverlap found;
  sweep_work(cycle, rows_by_start(cycle, rows), [&found](const WorkSegment& segment) {
    if (!segment.has(WorkClass::communication)) return;
    const std::int64_t lasts = segment.end_ns - segment.start_ns;
    found.communication_ns += lasts;
    if (segment.has(WorkClass::computation)) found.overlapped_ns += lasts;
  });
  return found;
}

}  // namespace trainwatch

#include "pipeline/cycle/comm_comp_overlap.h"

#include "pipeline/cycle/work_intervals.h"

namespace trainwatch {

CommCompOverlap comm_comp_overlap(const CycleTrace& cycle, DeviceRows rows) {
  const IntervalSet communication = work_intervals(cycle, rows, WorkClass::communication);
  const IntervalSet computation = work_intervals(cycle, rows, WorkClass::computation);
  return {communication.covered_ns(), intersection(communication, computation).covered_ns()};
}

}  // namespace trainwatch

// The few numbers of a cycle that rules and metrics read.
#pragma once

#include <array>

#include "pipeline/cycle/idle_time.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

struct CycleMeasure {
  std::int64_t window_ns = 0;  // from the first start of work to the last end
  std::int64_t busy_ns = 0;    // with work on some stream
  // Without work on any stream, by why the work that ended the gap had not begun: with busy_ns it
  // makes window_ns.
  std::array<std::int64_t, kIdleCauses> idle_ns{};

  // With work of the class on some stream; they may overlap.
  std::int64_t computation_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t overlapped_ns = 0;  // communication while something is computed

  std::int64_t steps = 0;
  std::int64_t step_ns = 0;       // the sum of their durations
  std::int64_t data_wait_ns = 0;  // of it

  std::int64_t idle_sum_ns() const { return window_ns - busy_ns; }
};

// O(n log n).
CycleMeasure measure(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch

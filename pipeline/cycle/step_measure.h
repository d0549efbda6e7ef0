// What the device did in each step of the host, and why it had nothing to do.
#pragma once

#include <vector>

#include "pipeline/cycle/interval_set.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/cycle_measure.h"

namespace trainwatch {

// By time, not by where work was launched: each moment of a step counts once. One for each step of
// the cycle, in its order; where there are none, one for all of the work. `by_start` are the rows
// that count, by start. O(n log n).
std::vector<StepMeasure> measure_steps(const CycleTrace& cycle, DeviceRows by_start);

}  // namespace trainwatch

// Makes the CycleMeasure of a cycle.
#pragma once

#include "pipeline/cycle/step_selection.h"
#include "trainwatch/cycle_measure.h"

namespace trainwatch {

// Of the work that counts. A cycle without steps is measured as one step, from the first start of
// work to the last end. O(n log n).
CycleMeasure measure(const SelectedCycle& selected);

}  // namespace trainwatch

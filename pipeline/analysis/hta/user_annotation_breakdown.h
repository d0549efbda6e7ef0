// How long the program's own annotations took, on the host or on the device.
#pragma once

#include "pipeline/analysis/hta/durations_by_name.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// As durations_by_name() has them.
std::vector<NameStats> annotations_by_name(const SelectedCycle& selected, bool on_device,
                                           std::size_t most);

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
// The standard process_* metrics of this process, read from /proc/self.
#pragma once

#include <vector>

#include "trainwatch/snapshot.h"

namespace trainwatch {

// What /proc does not show (hidepid, no
// /proc at all) is left out.
std::vector<MetricFamily> process_metrics();

}  // namespace trainwatch

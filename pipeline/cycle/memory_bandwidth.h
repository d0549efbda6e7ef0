// SPDX-License-Identifier: Apache-2.0
// The bandwidth of copies and fills by kind; concurrent ones add up.
#pragma once

#include <string>

#include "pipeline/cycle/sorted_values.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

struct BandwidthChange {
  std::int64_t at_ns = 0;
  double gbps = 0;  // from then on
};

struct CopyBandwidth {
  std::string kind;                      // "Memcpy DtoH", "Memset", "Memcpy Unknown"
  std::vector<BandwidthChange> changes;  // by time; beginnings first at equal times
};

// By kind. A copy of zero length counts as one microsecond. O(n log n).
std::vector<CopyBandwidth> memory_bandwidth(const CycleTrace& cycle, DeviceRows rows);

// Over the changes to a bandwidth above zero, not over time, as in HTA.
Description summarize(const CopyBandwidth& bandwidth);

}  // namespace trainwatch

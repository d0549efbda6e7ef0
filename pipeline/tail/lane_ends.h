// SPDX-License-Identifier: Apache-2.0
// Which files have ended: their lane has a newer file, or their name is gone. Updates their phases.
#pragma once

#include <vector>

#include "pipeline/tail/discovered_files.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/patience.h"
#include "pipeline/tail/tailer.h"

namespace trainwatch {

class LaneEnds {
 public:
  LaneEnds(FileTable& table, const DiscoveredFiles& discovered, const TailLimits& limits,
           const PatienceClock& clock)
      : table_(table), discovered_(discovered), limits_(limits), clock_(clock) {}

  // Call once per scan, when all names are known.
  void find();
  // True if the last find() saw an existing file of this lane.
  bool goes_on(LaneId lane) const;

 private:
  bool goes_on_compressed(const TrackedFile& file) const;

  FileTable& table_;
  const DiscoveredFiles& discovered_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  std::vector<const TrackedFile*> newest_in_lane_;  // as the last find() saw them
};

}  // namespace trainwatch

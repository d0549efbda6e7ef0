// Which file is read next: the first in order with unread bytes, skipping lanes in which an earlier
// file cannot be read at the moment.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

// A file and the one that took its path compare equal: the earlier one goes first.
bool reads_before(const TrackedFile& a, const TrackedFile& b);

class ReadQueue {
 public:
  ReadQueue(const TailLimits& limits, const PatienceClock& clock)
      : limits_(limits), clock_(clock) {}

  // `holds`: files whose content is not known yet. Later files of their lanes wait.
  void fill(const FileTable& table, const std::vector<FilePlace>& holds);
  // The next file, even if it has no unread bytes any more; null if there is none.
  TrackedFile* front();
  void pop();

 private:
  const TailLimits& limits_;
  const PatienceClock& clock_;
  std::vector<TrackedFile*> files_;
  std::size_t next_ = 0;
  std::set<LaneId> held_;  // lanes that wait for a file
};

}  // namespace trainwatch

// Which file is read next: of all that have unread bytes the first in order, but none that has an
// earlier file in its lane that cannot be read just now.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

// A file and the one that took its path are equal: the earlier one goes first.
bool reads_before(const TrackedFile& a, const TrackedFile& b);

class ReadQueue {
 public:
  // `holds`: files that are not known yet for want of a look into them. What comes after them in
  // their lanes waits.
  void fill(const FileTable& table, const std::vector<FilePlace>& holds);
  // The file whose turn it is, also when it has no unread bytes any more; null when there is none.
  TrackedFile* front();
  void pop();

 private:
  std::vector<TrackedFile*> files_;
  std::size_t next_ = 0;
  std::set<LaneId> held_;  // lanes that wait for a file
};

}  // namespace trainwatch

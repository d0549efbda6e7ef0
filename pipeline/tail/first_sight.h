// What a file began with when it was first seen. Where that has changed before anything was read,
// the file was truncated and begun anew, and what it held may be in a copy that was made of it.
#pragma once

#include "pipeline/tail/tracked_file.h"

namespace trainwatch {

// There are first bytes to read, and they were not looked at yet. Only the name of such a file, not
// of one that has a time stamp in its name, is used again.
inline bool begins(const TrackedFile& file) {
  return file.lane_is_single && file.offset() == 0 && file.size > 0 && file.first_sight.empty();
}

// There is more to see of its first bytes than was noted.
inline bool shows_more(const TrackedFile& file) {
  const std::uint64_t noted = file.first_sight.size() + kLongestCut;
  return file.lane_is_single && file.offset() == 0 && noted < ContentMark::kTail &&
         file.size > noted;
}

// Notes what the file, open as `handle`, begins with, unless that contradicts what was noted
// before.
Status note_first_sight(OpenFile& handle, TrackedFile& file);

}  // namespace trainwatch

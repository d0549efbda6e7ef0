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

// Notes what the file, open as `handle`, begins with.
Status note_first_sight(OpenFile& handle, TrackedFile& file);

}  // namespace trainwatch

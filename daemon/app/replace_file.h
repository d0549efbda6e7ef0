// Writes a file so that whoever looks at it sees the old content or the new one, never a part.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/result.h"

namespace trainwatch {

// Whether there is a directory for `path`, and `path` is none itself.
Status can_replace(const std::string& path);

// A link is followed. What is there and no regular file, as /dev/null, is written to as it is.
Status replace_file(const std::string& path, std::string_view content);

}  // namespace trainwatch

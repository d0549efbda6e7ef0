// Lists the trees below the watched roots.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/tail/tailer.h"

namespace trainwatch {

struct Listing {
  std::vector<std::string> files;  // paths, each once
  std::vector<std::string> directories;
};

// Replaces the content of `listing`. Lists files with the name of a trace, and every root that is a
// file, whatever its name. A root inside another one is listed once, on its own. Symbolic links
// below a root are not followed. What cannot be listed is left out; the next listing tries again.
void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing);

}  // namespace trainwatch

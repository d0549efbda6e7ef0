// Lists the trees below the watched roots.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/tail/tailer.h"

namespace trainwatch {

struct Candidate {
  std::string path;
  std::size_t root = 0;  // index of the first root that it was found under
};

struct Listing {
  std::vector<Candidate> files;
  std::vector<std::string> directories;
};

// Replaces the content of `listing`. Files are those with a trace file's name, and each root that
// is a file whatever its name. Symbolic links below a root are not followed. What cannot be listed
// is left out: it is tried again with the next listing.
void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing);

}  // namespace trainwatch

// What is watched: directory trees and files. A file belongs to exactly one root, the innermost one
// that contains it, however the roots were spelled. Listing the roots finds the files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "trainwatch/subject.h"

namespace trainwatch {

struct WatchRoot {
  std::string path;             // absolute, symbolic links resolved
  std::string source;           // its name in metrics and status
  std::string job{};            // empty: as the files say
  std::int32_t rank = kNoRank;  // for files that do not name one
};

inline bool lies_in(std::string_view path, const WatchRoot& root) {
  if (!path.starts_with(root.path)) return false;
  return path.size() == root.path.size() || root.path.ends_with('/') ||
         path[root.path.size()] == '/';
}

// The innermost root that contains `path`, the first of equal ones; null if there is none.
inline const WatchRoot* root_of(std::string_view path, const std::vector<WatchRoot>& roots) {
  const WatchRoot* innermost = nullptr;
  for (const WatchRoot& root : roots) {
    const bool deeper = innermost == nullptr || root.path.size() > innermost->path.size();
    if (deeper && lies_in(path, root)) innermost = &root;
  }
  return innermost;
}

// What is below the watched roots.
struct Listing {
  std::vector<std::string> files;        // paths, each once
  std::vector<std::string> checkpoints;  // paths of saved weights, see checkpoint_files.h
  std::vector<std::string> directories;
  std::vector<std::string> missing;  // roots that do not exist, or cannot be listed
};

// Replaces the content of `listing`. Lists files with the name of a trace or of a checkpoint, and
// as a trace every root that is a file, whatever its name. A root inside another one is listed
// once, on its own. Symbolic links below a root are not followed. What cannot be listed is left
// out; the next listing tries again.
void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing);

}  // namespace trainwatch

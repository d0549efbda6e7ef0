// What is watched: directory trees and files. A file belongs to exactly one root, the innermost one
// that contains it, however the roots were spelled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace trainwatch

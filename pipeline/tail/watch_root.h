// SPDX-License-Identifier: Apache-2.0
// What is watched: directory trees and files. A file belongs to exactly one root, the innermost one
// that contains it, however the roots were spelled. Listing the roots finds the files.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  // For files that name neither themselves nor in their path.
  std::string default_node{};
  std::int32_t default_rank = kNoRank;
  bool follow_links = false;  // to files below the root; a link out of it is never followed
  // Names of further files that are read, beside is_trace_name(); `*` stands for any text.
  std::vector<std::string> names{};
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

// True if the innermost root that contains `path` is one of `some`.
inline bool lies_in_one_of(const std::vector<std::string>& some, std::string_view path,
                           const std::vector<WatchRoot>& roots) {
  if (some.empty()) return false;
  const WatchRoot* const root = root_of(path, roots);
  return root != nullptr && std::ranges::find(some, root->path) != some.end();
}

// Why something below a root is not read, although its name or its place promised traces.
enum class SkipReason : std::uint8_t {
  symbolic_link,  // or, where links are followed, one that leads to no file below the root
  not_regular,    // named like a trace, but a FIFO, device or socket
  too_deep,       // a directory below the deepest one that is listed
  same_file,      // a hard link, or a link that is followed, to a file that is read by another name
  no_known_format,  // its name does not say what it is, and nothing in its first bytes does so far
  not_looked_at,    // the same, and there are too many such files to look at all of them
  copy,             // holds the same records as another file, which is read
  count_,
};
std::string_view to_string(SkipReason reason);

// What one scan skipped: how many of each kind, and the paths of the first ones.
class SkippedPaths {
 public:
  static constexpr std::size_t kKept = 64;
  // Of each kind that a data set has by the thousand.
  static constexpr std::size_t kKeptOfMany = 16;
  struct Skipped {
    std::string path;
    SkipReason reason{};
    std::string of{};  // the path that is read instead; of copies
    auto operator<=>(const Skipped&) const = default;
  };

  void add(std::string path, SkipReason reason, std::string of = {});
  std::uint64_t count(SkipReason reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  const std::vector<Skipped>& first() const { return first_; }

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(SkipReason::count_)> counts_{};
  std::vector<Skipped> first_;
};

class CandidateList;

// What is below the watched roots.
struct Listing {
  std::vector<std::string> files;        // paths, each once
  std::vector<std::string> checkpoints;  // paths of saved weights, see checkpoint_files.h
  std::vector<std::string> directories;
  std::vector<std::string> missing;  // roots that do not exist, or cannot be listed
  std::vector<std::string> silent;   // roots that do not answer: what is below them is not known
  SkippedPaths skipped;
};

// Replaces the content of `listing`. Lists files with the name of a trace or of a checkpoint, and
// as a trace every root that is a file, whatever its name. A root inside another one is listed
// once, on its own. Symbolic links to directories are not followed: what lies below the root is
// found in its place. The traces of incidents that trainwatch keeps beside its state are passed
// over. What cannot be listed is left out; the next listing tries again.
//
// Files that may be logs (candidate.h) go to `candidates`, if there is such a list, but for those
// of which `is_known` says that they are read already.
void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing, CandidateList* candidates = nullptr,
                const std::function<bool(const std::string&)>& is_known = {});

}  // namespace trainwatch

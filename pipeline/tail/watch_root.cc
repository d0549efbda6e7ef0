#include "pipeline/tail/watch_root.h"

#include <set>
#include <string_view>
#include <utility>

#include "pipeline/tail/checkpoint_files.h"
#include "pipeline/tail/lane.h"

namespace trainwatch {
namespace {

std::string join(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + '/' + name;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

class Walk {
 public:
  Walk(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth, Listing& listing)
      : files_(files), max_depth_(max_depth), listing_(listing) {
    for (const WatchRoot& root : roots) roots_.insert(root.path);
  }

  void all_roots() {
    for (const std::string_view root : roots_) {
      std::string path(root);
      if (directory(path, 0)) continue;
      if (!files_.stat(path)) {
        listing_.missing.push_back(std::move(path));
        continue;
      }
      listing_.directories.push_back(parent_of(path));
      listing_.files.push_back(std::move(path));
    }
  }

 private:
  bool directory(const std::string& path, int depth) {
    const auto entries = files_.list(path);
    if (!entries) return false;
    listing_.directories.push_back(path);
    for (const DirectoryEntry& entry : *entries) {
      std::string below = join(path, entry.name);
      if (roots_.contains(below)) continue;
      if (entry.type == DirectoryEntry::Type::directory && depth < max_depth_) {
        directory(below, depth + 1);
      } else if (entry.type == DirectoryEntry::Type::file && is_trace_name(entry.name)) {
        listing_.files.push_back(std::move(below));
      } else if (entry.type == DirectoryEntry::Type::file && is_checkpoint_name(entry.name)) {
        listing_.checkpoints.push_back(std::move(below));
      }
    }
    return true;
  }

  FileSystem& files_;
  int max_depth_;
  Listing& listing_;
  std::set<std::string_view> roots_;  // ordered: results do not depend on root order
};

}  // namespace

void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing) {
  listing.files.clear();
  listing.checkpoints.clear();
  listing.directories.clear();
  listing.missing.clear();
  Walk(files, roots, max_depth, listing).all_roots();
}

}  // namespace trainwatch

#include "pipeline/tail/discovery.h"

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
  Walk(FileSystem& files, int max_depth, Listing& listing)
      : files_(files), max_depth_(max_depth), listing_(listing) {}

  bool directory(const std::string& path, std::size_t root, int depth) {
    const auto entries = files_.list(path);
    if (!entries) return false;
    listing_.directories.push_back(path);
    for (const DirectoryEntry& entry : *entries) {
      if (entry.type == DirectoryEntry::Type::directory && depth < max_depth_) {
        directory(join(path, entry.name), root, depth + 1);
      } else if (entry.type == DirectoryEntry::Type::file && is_trace_name(entry.name)) {
        listing_.files.push_back({join(path, entry.name), root});
      }
    }
    return true;
  }

 private:
  FileSystem& files_;
  int max_depth_;
  Listing& listing_;
};

}  // namespace

void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing) {
  listing.files.clear();
  listing.directories.clear();
  Walk walk(files, max_depth, listing);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (walk.directory(roots[i].path, i, 0) || !files.stat(roots[i].path)) continue;
    listing.files.push_back({roots[i].path, i});
    listing.directories.push_back(parent_of(roots[i].path));
  }
}

}  // namespace trainwatch

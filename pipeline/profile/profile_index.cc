// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/profile_index.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

std::string join(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + '/' + name;
}

class Search {
 public:
  Search(FileSystem& files, ProfileIndex& index) : files_(files), index_(index) {}

  bool directory(const std::string& path, int depth) {
    const auto entries = files_.list(path);
    if (!entries) return false;
    for (const DirectoryEntry& entry : *entries) {
      if (entry.type == DirectoryEntry::Type::directory &&
          depth < ProfileIndex::kMaxDirectoryDepth) {
        directory(join(path, entry.name), depth + 1);
      } else if (entry.type == DirectoryEntry::Type::file) {
        file(join(path, entry.name));
      }
    }
    return true;
  }

  void file(const std::string& path) {
    if (!is_profile_file(base_name(path)) || seen_.contains(path)) return;
    auto name = parse_profile_path(path);
    if (name && index_.profiles.size() < ProfileIndex::kMaxProfiles) {
      index_.profiles.push_back({path, std::move(*name)});
    } else if (!name && index_.rejected.size() < ProfileIndex::kMaxRejections) {
      index_.rejected.push_back({path, "its directory is not named <start>_<end>"});
    } else {
      ++index_.left_out;
      return;
    }
    seen_.insert(path);
  }

 private:
  FileSystem& files_;
  ProfileIndex& index_;
  std::set<std::string> seen_;  // roots may contain each other
};

}  // namespace

ProfileIndex find_profiles(FileSystem& files, const std::vector<std::string>& roots) {
  ProfileIndex index;
  Search search{files, index};
  for (const std::string& root : roots) {
    if (!search.directory(root, 0) && files.stat(root)) search.file(root);
  }
  std::vector<FoundProfile>& found = index.profiles;
  std::sort(found.begin(), found.end(), [](const FoundProfile& a, const FoundProfile& b) {
    return std::tie(a.name.start.at, a.path) < std::tie(b.name.start.at, b.path);
  });
  return index;
}

}  // namespace trainwatch

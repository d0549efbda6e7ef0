// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/watch_root.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "pipeline/tail/checkpoint_files.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/paths.h"
#include "trainwatch/star_pattern.h"

namespace trainwatch {
namespace {

// Where trainwatch keeps its state (pipeline/state/state_directory.h), also among a job's files.
bool is_state_directory(const std::vector<DirectoryEntry>& entries) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(entries, name, &DirectoryEntry::name) != entries.end();
  };
  return has("state.db") && has("state.db.lock");
}

class Walk {
 public:
  Walk(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth, Listing& listing)
      : files_(files), max_depth_(max_depth), listing_(listing) {
    for (const WatchRoot& root : roots) roots_.emplace(root.path, &root);
  }

  void all_roots() {
    for (const auto& [name, root] : roots_) {
      std::string path(name);
      root_ = root;
      if (directory(path, 0)) continue;
      if (!files_.stat(path)) {
        if (files_.answers(path)) listing_.missing.push_back(std::move(path));
        continue;
      }
      listing_.directories.emplace_back(parent_of(path));
      listing_.files.push_back(std::move(path));
    }
  }

 private:
  bool directory(const std::string& path, int depth) {
    const auto entries = files_.list(path);
    if (!entries) return false;
    listing_.directories.push_back(path);
    const bool holds_state = is_state_directory(*entries);
    for (const DirectoryEntry& entry : *entries) {
      // Traces that trainwatch keeps of incidents look like a job's.
      if (holds_state && entry.name == "incidents") continue;
      take(path, entry, depth);
    }
    return true;
  }

  void take(const std::string& directory_path, const DirectoryEntry& entry, int depth) {
    using Type = DirectoryEntry::Type;
    const bool trace = is_trace_name(entry.name) || is_named(entry.name);
    const bool wanted = trace || entry.type == Type::directory || entry.type == Type::link ||
                        (entry.type == Type::file && is_checkpoint_name(entry.name));
    if (!wanted) return;
    std::string path = join(directory_path, entry.name);
    if (roots_.contains(path)) return;
    switch (entry.type) {
      case Type::directory:
        if (depth >= max_depth_) return skip(std::move(path), SkipReason::too_deep);
        directory(path, depth + 1);
        return;
      case Type::link:
        if (!root_->follow_links || !files_.stat(path))
          return skip(std::move(path), SkipReason::symbolic_link);
        if (trace) listing_.files.push_back(std::move(path));
        return;
      case Type::file:
        (trace ? listing_.files : listing_.checkpoints).push_back(std::move(path));
        return;
      case Type::other:
        return skip(std::move(path), SkipReason::not_regular);
    }
  }

  bool is_named(std::string_view name) const {
    return std::ranges::any_of(
        root_->names, [name](const std::string& pattern) { return matches_star(pattern, name); });
  }

  void skip(std::string path, SkipReason reason) { listing_.skipped.add(std::move(path), reason); }

  FileSystem& files_;
  int max_depth_;
  Listing& listing_;
  const WatchRoot* root_ = nullptr;  // that is being listed
  // By path, the first of equal ones; ordered: results do not depend on root order.
  std::map<std::string_view, const WatchRoot*> roots_;
};

}  // namespace

std::string_view to_string(SkipReason reason) {
  switch (reason) {
    case SkipReason::symbolic_link:
      return "symbolic_link";
    case SkipReason::not_regular:
      return "not_regular";
    case SkipReason::too_deep:
      return "too_deep";
    case SkipReason::same_file:
      return "same_file";
    case SkipReason::count_:
      break;
  }
  return "";
}

void SkippedPaths::add(std::string path, SkipReason reason) {
  ++counts_[static_cast<std::size_t>(reason)];
  if (first_.size() < kKept) first_.push_back({std::move(path), reason});
}

void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing) {
  listing.files.clear();
  listing.checkpoints.clear();
  listing.directories.clear();
  listing.missing.clear();
  listing.silent.clear();
  listing.skipped = {};
  Walk(files, roots, max_depth, listing).all_roots();
  for (const WatchRoot& root : roots) {
    if (!files.answers(root.path)) listing.silent.push_back(root.path);
  }
}

}  // namespace trainwatch

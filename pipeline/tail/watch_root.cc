// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/watch_root.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "pipeline/tail/candidate.h"
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
  using IsKnown = std::function<bool(const std::string&)>;

  Walk(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth, Listing& listing,
       CandidateList* candidates, const IsKnown& is_known)
      : files_(files),
        max_depth_(max_depth),
        listing_(listing),
        candidates_(candidates),
        is_known_(is_known) {
    for (const WatchRoot& root : roots) roots_.emplace(root.path, &root);
  }

  void all_roots() {
    for (const auto& [name, root] : roots_) {
      std::string path(name);
      root_ = root;
      if (directory(path, {})) continue;
      if (!files_.stat(path)) {
        if (files_.answers(path)) listing_.missing.push_back(std::move(path));
        continue;
      }
      listing_.directories.emplace_back(parent_of(path));
      listing_.files.push_back(std::move(path));
    }
  }

 private:
  struct Place {
    int depth = 0;
    bool may_hold_logs = true;
  };

  bool directory(const std::string& path, Place place) {
    const auto entries = files_.list(path);
    if (!entries) return false;
    listing_.directories.push_back(path);
    const bool holds_state = is_state_directory(*entries);
    for (const DirectoryEntry& entry : *entries) {
      // Traces that trainwatch keeps of incidents look like a job's.
      if (holds_state && entry.name == "incidents") continue;
      take(path, entry, place);
    }
    return true;
  }

  void take(const std::string& directory_path, const DirectoryEntry& entry, Place place) {
    using Type = DirectoryEntry::Type;
    const bool trace = is_trace_name(entry.name) || is_named(entry.name);
    const bool searched = !trace && candidates_ != nullptr && place.may_hold_logs;
    const NameClaim claim = searched ? claim_of(entry.name) : NameClaim::none;
    const bool wanted = trace || entry.type == Type::directory || entry.type == Type::link ||
                        (entry.type == Type::file && is_checkpoint_name(entry.name)) ||
                        claim != NameClaim::none;
    if (!wanted) return;
    std::string path = join(directory_path, entry.name);
    if (roots_.contains(path)) return;
    switch (entry.type) {
      case Type::directory:
        if (place.depth >= max_depth_) return skip(std::move(path), SkipReason::too_deep);
        directory(path, {place.depth + 1, place.may_hold_logs && may_hold_logs(entry.name)});
        return;
      case Type::link:
        if (!root_->follow_links || !files_.stat(path))
          return skip(std::move(path), SkipReason::symbolic_link);
        if (trace || claim != NameClaim::none) file(std::move(path), trace, claim, place);
        return;
      case Type::file:
        return file(std::move(path), trace, claim, place);
      case Type::other:
        if (!trace && claim == NameClaim::bare) return;  // sockets and pipes have such names
        return skip(std::move(path), SkipReason::not_regular);
    }
  }

  void file(std::string path, bool trace, NameClaim claim, Place place) {
    if (trace || (claim != NameClaim::none && is_known_ && is_known_(path))) {
      listing_.files.push_back(std::move(path));
    } else if (claim != NameClaim::none) {
      candidates_->add({claim, static_cast<std::size_t>(place.depth), std::move(path)},
                       listing_.skipped);
    } else if (is_checkpoint_name(name_of(path))) {
      listing_.checkpoints.push_back(std::move(path));
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
  CandidateList* candidates_;  // null: only names decide
  const IsKnown& is_known_;
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
    case SkipReason::no_known_format:
      return "no_known_format";
    case SkipReason::not_looked_at:
      return "not_looked_at";
    case SkipReason::copy:
      return "copy";
    case SkipReason::count_:
      break;
  }
  return "";
}

void SkippedPaths::add(std::string path, SkipReason reason, std::string of) {
  const std::uint64_t count = ++counts_[static_cast<std::size_t>(reason)];
  const bool many = reason == SkipReason::no_known_format || reason == SkipReason::not_looked_at;
  if (many && count > kKeptOfMany) return;
  if (first_.size() < kKept) first_.push_back({std::move(path), reason, std::move(of)});
}

void list_roots(FileSystem& files, const std::vector<WatchRoot>& roots, int max_depth,
                Listing& listing, CandidateList* candidates,
                const std::function<bool(const std::string&)>& is_known) {
  listing.files.clear();
  listing.checkpoints.clear();
  listing.directories.clear();
  listing.missing.clear();
  listing.silent.clear();
  listing.skipped = {};
  Walk(files, roots, max_depth, listing, candidates, is_known).all_roots();
  for (const WatchRoot& root : roots) {
    if (!files.answers(root.path)) listing.silent.push_back(root.path);
  }
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/root_jobs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

using IsFile = std::function<bool(const std::string& path)>;

// The root that contains this one, the innermost; null: none. Of equal ones the first contains the
// others.
WatchRoot* around(std::vector<WatchRoot>& roots, const WatchRoot& root) {
  WatchRoot* found = nullptr;
  for (WatchRoot& other : roots) {
    const bool equal = other.path == root.path;
    if (equal ? &other >= &root : !lies_in(root.path, other)) continue;
    if (found == nullptr || other.path.size() > found->path.size()) found = &other;
  }
  return found;
}

// The last names of a path, as many as are asked for.
std::string_view last_names(std::string_view path, std::size_t count) {
  std::size_t at = path.size();
  while (count > 0 && at != 0 && at != std::string_view::npos) {
    at = path.rfind('/', at - 1);
    --count;
  }
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

// Whether files of one job could be taken for those of the other.
bool collide(std::string_view one, std::string_view other) {
  return one == other || (one.starts_with(other) && one[other.size()] == '/');
}

// Whether `count` names of a folder could be taken for those of another one, or for a job of its
// own.
bool is_taken(const std::string& folder, std::size_t count, const std::set<std::string>& folders,
              const std::set<std::string>& jobs) {
  const std::string_view name = last_names(folder, count);
  const auto is_of = [&](const std::string& other) {
    for (std::size_t of_other = 1; other != folder && of_other <= count; ++of_other) {
      if (collide(name, last_names(other, of_other))) return true;
    }
    return false;
  };
  return std::ranges::any_of(folders, is_of) ||
         std::ranges::any_of(jobs, [name](const auto& job) { return collide(name, job); });
}

// Where two folders have the same last name, more of the path follows.
std::string name_of(const std::string& folder, const std::set<std::string>& folders,
                    const std::set<std::string>& jobs) {
  const auto most = static_cast<std::size_t>(std::ranges::count(folder, '/'));
  std::size_t count = 1;
  while (count < most && is_taken(folder, count, folders, jobs)) ++count;
  return std::string(last_names(folder, count));
}

}  // namespace

void name_jobs(std::vector<WatchRoot>& roots, const IsFile& is_file) {
  std::map<WatchRoot*, std::string> folders;  // of those without a job that no other root contains
  std::set<std::string> distinct;
  std::set<std::string> jobs;
  for (WatchRoot& root : roots) {
    if (!root.job.empty()) jobs.insert(root.job);
    if (!root.job.empty() || around(roots, root) != nullptr) continue;
    const std::string_view path = root.path;
    const std::string_view folder = is_file(root.path) ? path.substr(0, path.rfind('/')) : path;
    distinct.insert(folders[&root] = job_directory(folder));
  }
  if (distinct.size() > 1) {
    for (const auto& [root, folder] : folders) root->job = name_of(folder, distinct, jobs);
  }
  std::vector<WatchRoot*> inner;
  for (WatchRoot& root : roots) {
    if (root.job.empty() && around(roots, root) != nullptr) inner.push_back(&root);
  }
  std::ranges::stable_sort(inner, {}, [](const WatchRoot* root) { return root->path.size(); });
  for (WatchRoot* const root : inner) {
    const WatchRoot& outer = *around(roots, *root);
    root->job = job_of(is_file(root->path) ? root->path : root->path + "/.", outer.path, outer.job);
  }
}

}  // namespace trainwatch

#include "daemon/app/watch_roots.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace trainwatch {
namespace {

std::vector<std::string> list_directory(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

// The user may name a link, or a path that does not exist yet; below it, links are not followed.
std::string resolved(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path absolute = fs::absolute(path, failure);
  if (failure) return path;
  fs::path result = fs::weakly_canonical(absolute, failure);
  if (failure) result = absolute.lexically_normal();
  if (!result.has_filename() && result.has_relative_path()) result = result.parent_path();
  return result.string();
}

IngestOptions no_roots(const Config& config) {
  IngestOptions input;
  input.list_directory = list_directory;
  input.time.max_ahead = config.input.max_ahead;
  input.time.lateness = config.input.lateness;
  input.time.min_hold = config.input.min_hold;
  input.names = config.input.names;
  return input;
}

}  // namespace

TailLimits tail_limits(const TailConfig& config) {
  TailLimits limits;
  limits.chunk_bytes = config.chunk_bytes;
  limits.max_files = config.max_files;
  limits.max_depth = config.max_depth;
  limits.longest_gap = std::max<Nanos>(limits.longest_gap, 2 * config.poll_interval);
  return limits;
}

IngestOptions configured_input(const Config& config) {
  IngestOptions input = no_roots(config);
  for (const WatchConfig& watch : config.watch) {
    const std::string path = resolved(watch.path);
    input.roots.push_back({path, watch.source.empty() ? path : watch.source, watch.job,
                           watch.rank.value_or(kNoRank)});
  }
  return input;
}

IngestOptions replay_input(const std::vector<std::string>& paths, const Config& config) {
  const std::vector<WatchRoot> configured = configured_input(config).roots;
  IngestOptions input = no_roots(config);
  for (const std::string& name : paths) {
    WatchRoot root{resolved(name), name};
    if (const WatchRoot* const around = root_of(root.path, configured)) {
      root.job = around->job;
      root.rank = around->rank;
    }
    input.roots.push_back(std::move(root));
  }
  return input;
}

}  // namespace trainwatch

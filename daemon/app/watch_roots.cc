#include "daemon/app/watch_roots.h"

#include <algorithm>
#include <filesystem>

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

WatchRoots no_roots(const Config& config) {
  WatchRoots roots;
  roots.ingest.list_directory = list_directory;
  roots.ingest.time.max_ahead = config.input.max_ahead;
  roots.ingest.time.lateness = config.input.lateness;
  roots.ingest.time.min_hold = config.input.min_hold;
  return roots;
}

void add(WatchRoots& roots, const std::string& path, const WatchConfig& options) {
  const std::string source = options.source.empty() ? path : options.source;
  // The user may name a link; below it, links are not followed.
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, failure);
  roots.roots.push_back({failure ? path : resolved.string(), source});
  roots.ingest.roots[source] = {options.job, options.rank.value_or(kNoRank)};
}

bool lies_below(const std::string& path, const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path inner = fs::weakly_canonical(path, failure);
  const fs::path outer = fs::weakly_canonical(directory, failure);
  const fs::path relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

TailLimits tail_limits(const TailConfig& config) {
  TailLimits limits;
  limits.chunk_bytes = config.chunk_bytes;
  limits.max_files = config.max_files;
  limits.max_depth = config.max_depth;
  const auto polls = [&config](std::chrono::seconds time) {
    return static_cast<unsigned>(std::max<std::int64_t>(1, time / config.poll_interval));
  };
  limits.linger_polls = polls(std::chrono::seconds(5));
  limits.gone_polls = polls(std::chrono::minutes(5));
  limits.retry_polls = polls(std::chrono::minutes(1));
  limits.shrunk_polls = polls(std::chrono::seconds(4));
  return limits;
}

WatchRoots configured_roots(const Config& config) {
  WatchRoots roots = no_roots(config);
  for (const WatchConfig& watch : config.watch) add(roots, watch.path, watch);
  return roots;
}

WatchRoots replay_roots(const std::vector<std::string>& paths, const Config& config) {
  WatchRoots roots = no_roots(config);
  for (const std::string& path : paths) {
    WatchConfig options;
    for (const WatchConfig& watch : config.watch) {
      if (lies_below(path, watch.path)) options = watch;
    }
    options.source = path;
    add(roots, path, options);
  }
  return roots;
}

}  // namespace trainwatch

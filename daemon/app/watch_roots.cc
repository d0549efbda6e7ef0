// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/watch_roots.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/app/root_jobs.h"
#include "pipeline/decode/declared/declared_formats.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/posix_file_system.h"
#include "pipeline/tail/read_whole_file.h"

namespace trainwatch {
namespace {

IngestOptions no_roots(const Config& config) {
  IngestOptions input;
  input.time = config.input.time;
  input.names = config.input.names;
  if (!config.formats.empty()) {
    input.declared = std::make_shared<const DeclaredFormats>(config.formats);
  }
  return input;
}

// Files of the configured formats are found by their names.
void name_files(const Config& config, std::vector<WatchRoot>& roots) {
  std::vector<std::string> names;
  for (const FormatDeclaration& format : config.formats) {
    names.insert(names.end(), format.files.begin(), format.files.end());
  }
  for (WatchRoot& root : roots) root.names = names;
}

namespace fs = std::filesystem;

fs::path absolute_or_same(const std::string& path) {
  std::error_code failure;
  fs::path absolute = fs::absolute(path, failure);
  return failure ? fs::path(path) : absolute;
}

std::string without_slash(const fs::path& path) {
  const bool slash = !path.has_filename() && path.has_relative_path();
  return slash ? path.parent_path().string() : path.string();
}

// What does not exist yet is what its name says.
bool is_a_file(const std::string& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (fs::exists(status)) return !fs::is_directory(status);
  const std::string name = fs::path(path).filename();
  return is_trace_name(name) || name.ends_with(".log") || name.ends_with(".csv");
}

// For decoders, on whichever thread they run: a file system of its own.
void list_below(IngestOptions& input) {
  const auto files = std::make_shared<PosixFileSystem>(input.roots);
  input.list_directory = [files](const std::string& directory) {
    std::vector<std::string> names;
    const auto entries = files->list(directory);
    if (!entries) return names;
    for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
    return names;
  };
  input.read_file = [files](const std::string& path,
                            std::size_t most) -> std::optional<std::string> {
    auto text = read_whole_file(*files, path, most);
    if (!text) return std::nullopt;
    return std::move(*text);
  };
}

}  // namespace

std::string resolved_path(const std::string& path) {
  std::error_code failure;
  const fs::path resolved = fs::weakly_canonical(absolute_or_same(path), failure);
  return failure ? lexical_path(path) : without_slash(resolved);
}

std::string lexical_path(const std::string& path) {
  return without_slash(absolute_or_same(path).lexically_normal());
}

TailLimits tail_limits(const TailConfig& config) {
  TailLimits limits = config.limits;
  limits.longest_gap = std::max<Nanos>(limits.longest_gap, 2 * config.poll_interval);
  return limits;
}

IngestOptions configured_input(const Config& config) {
  IngestOptions input = no_roots(config);
  for (const WatchConfig& watch : config.watch) {
    const std::string path = resolved_path(watch.path);
    input.roots.push_back({path, watch.source.empty() ? path : watch.source,
                           watch.job.empty() ? config.environment.job : watch.job,
                           watch.rank.value_or(kNoRank), config.environment.node,
                           config.environment.rank,
                           watch.follow_symlinks == FollowSymlinks::within_root});
  }
  name_jobs(input.roots, is_a_file);
  name_files(config, input.roots);
  list_below(input);
  return input;
}

IngestOptions replay_input(const std::vector<std::string>& paths, const Config& config) {
  const std::vector<WatchRoot> configured = configured_input(config).roots;
  IngestOptions input = no_roots(config);
  for (const std::string& name : paths) {
    const EnvironmentNames& names = config.environment;
    WatchRoot root{resolved_path(name), name, names.job, kNoRank, names.node, names.rank};
    if (const WatchRoot* const around = root_of(root.path, configured)) {
      root.job = around->job;
      root.rank = around->rank;
      root.follow_links = around->follow_links;
    }
    input.roots.push_back(std::move(root));
  }
  name_jobs(input.roots, is_a_file);
  name_files(config, input.roots);
  list_below(input);
  return input;
}

}  // namespace trainwatch

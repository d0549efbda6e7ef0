// SPDX-License-Identifier: Apache-2.0
// Names of files: whatever they are, node, rank, process and job come from them and are in range.
#include "pipeline/decode/path_metadata.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"

namespace trainwatch::fuzz {
namespace {

void check_subject(std::string_view path, const std::string& node, std::int32_t rank,
                   std::int64_t process) {
  expect(path.find(node) != std::string_view::npos, "the node is part of the path");
  expect(rank == kNoRank || rank >= 0, "a rank is not negative");
  expect(process == kNoProcess || process >= 0, "a process is not negative");
}

// The parts of `name` are directories of the path in the same order; others may be between them.
bool are_directories_of(std::string_view path, std::string_view name) {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string directory = '/' + std::string(name.substr(0, end)) + '/';
    const std::size_t at = path.find(directory);
    if (at == std::string_view::npos) return false;
    path.remove_prefix(at + directory.size() - 1);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return true;
}

}  // namespace

void read_path(std::string_view input) {
  const std::string path = "/job/" + std::string(input);
  const std::string_view name = base_name(path);
  expect(path.ends_with(name) && name.find('/') == std::string_view::npos, "a name has no folder");

  const NodeRank writer = parse_writer(input);
  check_subject(input, writer.node, writer.rank, writer.process);
  const NodeRank timeline = timeline_path_metadata(path);
  check_subject(path, timeline.node, timeline.rank, timeline.process);
  const ProfilePathMetadata profile = profile_path_metadata(path);
  check_subject(path, profile.node, profile.rank, profile.process);
  expect(!profile.end_ns || *profile.end_ns > 0, "a profile ends after 1970");

  expect(path.find(tensorflow_node(path)) != std::string::npos, "the host is part of the path");
  expect(path.starts_with(metadata_directory(path)), "the metadata is above the file");
  if (const auto start = metadata_start_ns(name)) expect(*start >= 0, "a start is after 1970");
  is_named_as_ours(path);
  is_communication_timeline(path);

  for (const std::string job : {"", "bert"}) {
    const std::string found = job_of(path, "/job", job);
    expect(found.starts_with(job), "a job begins with what is configured");
    const std::string below = found.substr(job.size());
    const std::string_view tail = std::string_view(below).substr(below.starts_with('/') ? 1 : 0);
    expect(are_directories_of(path, tail), "the rest are directories of the path");
  }
}

}  // namespace trainwatch::fuzz

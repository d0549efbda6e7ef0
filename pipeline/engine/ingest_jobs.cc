// SPDX-License-Identifier: Apache-2.0
// Which job the files belong to.
#include <set>
#include <string>
#include <string_view>

#include "pipeline/decode/path_metadata.h"
#include "pipeline/decode/slurm_log.h"
#include "pipeline/engine/ingest.h"

namespace trainwatch {
namespace {

std::string_view directory_of(std::string_view path) {
  return path.substr(0, path.find_last_of('/'));
}

// Whether the directory is that of the job or lies in it.
bool lies_in_job(std::string_view directory, std::string_view job) {
  if (!directory.starts_with(job)) return false;
  return job.empty() || directory.size() == job.size() || directory[job.size()] == '/';
}

std::string joined(std::string job, std::string_view directory) {
  if (directory.starts_with('/')) directory.remove_prefix(1);
  if (!job.empty() && !directory.empty()) job += '/';
  return job.append(directory);
}

}  // namespace

std::string Ingest::job_of_place(const KnownFile& known) const {
  const WatchRoot* const root = root_of(known.path, options_.roots);
  return root == nullptr ? job_of(known.path, "", "") : job_of(known.path, root->path, root->job);
}

std::string Ingest::job_of_file(const File& file) const {
  std::string job = joined(job_of_place(file.known), file.run);
  if (file.twin == 1) return job;
  if (!job.empty()) job += ' ';
  return job + "(" + std::to_string(file.twin) + ")";
}

// The logs that lie in the directory decide who is the first, so that it does not matter which file
// is found first. A run that had the place when nothing else was there keeps it.
void Ingest::name_run_of(const KnownFile& known, File& file) {
  const std::string_view number = slurm_number(known.path);
  if (number.empty()) return;
  const std::string job = job_of_place(known);
  if (!names_.knows(job) && options_.list_directory) {
    std::string first(number);
    for (const std::string& name : options_.list_directory(std::string(directory_of(known.path)))) {
      const std::string_view other = slurm_number(name);
      if (!other.empty() && is_earlier_slurm_number(other, first)) first = other;
    }
    names_.is_first(job, first);
  }
  if (!names_.is_first(job, number)) file.run = number;
  engine_.name_run(job_of_file(file), number);
}

std::string Ingest::job_of_run(std::string_view id) {
  File& file = changing(decoding_);
  const bool first = names_.is_first(job_of_place(file.known), id);
  file.run = first ? std::string_view() : id;
  std::string job = job_of_file(file);
  engine_.name_run(job, id);
  return job;
}

std::string Ingest::job_of_writer(const FileWriter& writer, Time at) {
  File& file = changing(decoding_);
  file.twin = names_.run_of(joined(job_of_place(file.known), file.run), writer, at);
  return job_of_file(file);
}

// Nothing says which of several runs in one place wrote it: any of them may have.
void Ingest::checkpoint_written(const CheckpointFile& file) {
  const WatchRoot* const root = root_of(file.path, options_.roots);
  if (root == nullptr) return;
  const std::string_view below = std::string_view(file.path).substr(root->path.size());
  const std::string directory = joined(root->job, below.substr(0, below.rfind('/')));
  std::set<std::string> directories{directory};
  for (const auto& [id, other] : files_) {
    if (other.run.empty() && other.twin == 1) continue;
    const std::string place = job_of_place(other.known);
    if (!lies_in_job(directory, place)) continue;
    directories.insert(joined(job_of_file(other), directory.substr(place.size())));
  }
  const Time created = file.created_ns > 0 ? time_from_ns(file.created_ns) : kNoTime;
  for (const std::string& each : directories) {
    engine_.on(CheckpointWrite{each, created, time_from_ns(file.written_ns)});
  }
}

}  // namespace trainwatch

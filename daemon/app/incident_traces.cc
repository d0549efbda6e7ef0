// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/incident_traces.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json.gz";

}  // namespace

std::string IncidentTraces::path_of(const std::string& id) const {
  return directory_ + "/" + id + std::string(kEnding);
}

Status IncidentTraces::prepare() const {
  std::error_code failure;
  fs::create_directories(directory_, failure);
  if (!failure) fs::permissions(directory_, fs::perms::owner_all, failure);
  return failure ? Status(Error{directory_ + ": " + failure.message()}) : success();
}

std::optional<std::string> IncidentTraces::read(const std::string& id) const {
  std::ifstream file(path_of(id), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return file.bad() ? std::nullopt : std::optional(std::move(content).str());
}

Status IncidentTraces::write(const std::string& id, std::string_view compressed) {
  std::error_code failure;
  const std::string path = path_of(id);
  const std::string beside = path + ".tmp";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(compressed.data(), static_cast<std::streamsize>(compressed.size()));
  file.close();
  if (file) fs::rename(beside, path, failure);
  if (!file || failure) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    return Error{path + ": cannot be written"};
  }
  make_room();
  return success();
}

// What cannot be looked at is left alone.
void IncidentTraces::make_room() const {
  struct Kept {
    fs::file_time_type written;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  std::error_code failure;
  for (fs::directory_iterator entry(directory_, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code gone;
    const auto bytes = entry->file_size(gone);
    const auto written = entry->last_write_time(gone);
    if (!gone) all.push_back({written, bytes, entry->path()});
  }
  std::ranges::sort(all, std::greater<>{}, &Kept::written);
  std::uint64_t bytes = 0;
  const auto oldest = fs::file_time_type::clock::now() -
                      std::chrono::duration_cast<fs::file_time_type::duration>(limits_.age);
  for (const Kept& each : all) {
    bytes += each.bytes;
    if (bytes <= limits_.bytes && each.written >= oldest) continue;
    std::error_code ignored;
    fs::remove(each.path, ignored);
  }
}

}  // namespace trainwatch

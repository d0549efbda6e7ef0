// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/sandbox_paths.h"

#include <filesystem>
#include <utility>

#include "daemon/access/server_tls.h"

namespace trainwatch {

SandboxPaths sandbox_paths(const RunOptions& options, const std::vector<std::string>& watched,
                           const LoadedAccess& access) {
  SandboxPaths paths{watched, {options.config.storage.path}, !options.config.receivers.empty()};
  for (const ReceiverConfig& receiver : options.config.receivers) {
    for (const std::string& file : files_of(receiver)) paths.read.push_back(file);
  }
  paths.read.push_back("/proc/self");  // so all of /proc
  if (!options.config_file.empty()) {
    paths.read.push_back(options.config_file);
    std::error_code broken;
    paths.read.push_back(std::filesystem::weakly_canonical(options.config_file, broken).string());
  }
  for (const std::string& file : access.files) {
    for (std::string& place : places_of(file)) paths.read.push_back(std::move(place));
  }
  if (const std::string authorities = system_ca_file(); access.access->tls && !authorities.empty())
    paths.read.push_back(authorities);
  return paths;
}

}  // namespace trainwatch

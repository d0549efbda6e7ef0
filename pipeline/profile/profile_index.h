// SPDX-License-Identifier: Apache-2.0
// The Python profiles below some directories: listed first, read on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/profile/profile_name.h"
#include "pipeline/tail/file_system.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct FoundProfile {
  std::string path;
  ProfileName name;
};

struct ProfileRejection {
  std::string path;
  std::string reason;
};

struct ProfileIndex {
  static constexpr int kMaxDirectoryDepth = 16;
  static constexpr std::size_t kMaxProfiles = 4096;
  static constexpr std::size_t kMaxRejections = 64;

  std::vector<FoundProfile> profiles;  // by start time, then by path
  std::vector<ProfileRejection> rejected;
  std::uint64_t left_out = 0;  // files beyond the limits above
};

// Lists once. A root may itself be a profile. Symbolic links are not followed; directories that
// cannot be listed are left out.
ProfileIndex find_profiles(FileSystem& files, const std::vector<std::string>& roots);

}  // namespace trainwatch

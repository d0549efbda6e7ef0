// The Python profiles below some directories: which there are, read when they are asked for.
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

  std::vector<FoundProfile> profiles;  // by time of their start, then by path
  std::vector<ProfileRejection> rejected;
  std::uint64_t left_out = 0;  // files beyond the bounds above
};

// Looks once. A root may also be a profile itself. Symbolic links are not followed; directories
// that cannot be listed are left out.
ProfileIndex find_profiles(FileSystem& files, const std::vector<std::string>& roots);

// The whole file, at most `max_bytes` of it; an error where it is longer.
Result<std::string> read_whole_file(FileSystem& files, const std::string& path,
                                    std::size_t max_bytes);

}  // namespace trainwatch

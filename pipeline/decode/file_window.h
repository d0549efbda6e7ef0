// SPDX-License-Identifier: Apache-2.0
// What has to be read of a file for the events of a span of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "trainwatch/subject.h"

namespace trainwatch {

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
};

struct FileWindow {
  std::string path{};
  FileIdentity identity{};  // another file at this path is not meant
  std::string job{};        // configured, may be empty
  std::int32_t rank = kNoRank;
  std::string format{};      // its name
  std::int64_t base_ns = 0;  // what is added to the times of a profiler's trace
  // From the file's beginning to its end; the two below are empty.
  bool whole = false;
  // Records that later ones refer to, such as the names of phases. They begin with the file.
  std::vector<ByteRange> definitions{};
  // Each begins and ends between two records.
  std::vector<ByteRange> events{};
};

}  // namespace trainwatch

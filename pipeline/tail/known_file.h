// SPDX-License-Identifier: Apache-2.0
// How the tailer names a file to others, and the checkpoint from which a restart resumes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/fingerprint.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

struct KnownFile {
  FileId file{};
  LaneId lane{};
  std::string source;  // WatchRoot::source of the root that it belongs to
  std::string path;
  FileIdentity identity;
  std::uint32_t generation = 0;  // see FileStat
};

// One file, up to the bytes that the sink has received.
struct FileCheckpoint {
  KnownFile known;
  Fingerprint read;
  bool finished = false;
};

struct LaneCheckpoint {
  LaneId lane{};
  std::string name;
  // The last file of the lane that was retired to make room, with all before it; empty: none.
  std::string forgotten_path;
};

struct TailCheckpoint {
  std::vector<FileCheckpoint> files;
  std::vector<LaneCheckpoint> lanes;
};

}  // namespace trainwatch

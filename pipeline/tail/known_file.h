// How the tailer names a file to others, and what a restarted one is told to go on from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/tail/content_mark.h"
#include "pipeline/tail/file_system.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

struct KnownFile {
  FileId file{};
  LaneId lane{};
  std::string source;  // WatchRoot::source of the root it was found under
  std::string path;
  FileIdentity identity;
  std::uint32_t generation = 0;  // see FileStat

  void state(StateIo& io) {
    io(file);
    io(lane);
    io(source);
    io(path);
    io(identity);
    io(generation);
  }
};

// One file as far as its bytes were taken in by whoever keeps the account.
struct FileCheckpoint {
  KnownFile known;
  ContentMark read;
  bool finished = false;
};

struct LaneCheckpoint {
  LaneId lane{};
  std::string name;
  // A file of the lane that was forgotten to make room, with all before it; empty: none.
  std::string forgotten_path;

  void state(StateIo& io) {
    io(lane);
    io(name);
    io(forgotten_path);
  }
};

struct TailCheckpoint {
  std::vector<FileCheckpoint> files;
  std::vector<LaneCheckpoint> lanes;
};

}  // namespace trainwatch

// Reads one tracked file a chunk at a time and tells the sink everything that concerns that file.
#pragma once

#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

class FileReader {
 public:
  FileReader(FileTable& table, const std::vector<WatchRoot>& roots, const TailLimits& limits);

  // Reads up to one chunk. After a failure the file is blocked. False: other content stands where
  // the file was read; nothing was told.
  bool read_chunk(TrackedFile& file, TailSink& sink);

  // When the file is at its end and no more is to come: tells the sink, gives the descriptor back.
  void settle(TrackedFile& file, TailSink& sink);

  KnownFile known(const TrackedFile& file) const;

 private:
  bool make_ready(TrackedFile& file, TailSink& sink);
  Result<bool> dispel_doubt(TrackedFile& file);
  void announce(TrackedFile& file, TailSink& sink);
  void fail(TrackedFile& file, const Error& error, TailSink& sink);

  FileTable& table_;
  const std::vector<WatchRoot>& roots_;
  const TailLimits& limits_;
  std::vector<char> buffer_;
  std::vector<char> compare_;
};

}  // namespace trainwatch

// Reads one tracked file a chunk at a time and tells the sink everything that concerns that file.
#pragma once

#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

class FileReader {
 public:
  FileReader(FileTable& table, const std::vector<WatchRoot>& roots, std::size_t chunk_bytes)
      : table_(table), roots_(roots), buffer_(chunk_bytes + TrackedFile::kTail) {}

  // Reads up to one chunk. After a failure the file is blocked.
  void read_chunk(TrackedFile& file, TailSink& sink);

  // When the file is at its end and no more is to come: tells the sink, gives the descriptor back.
  void settle(TrackedFile& file, TailSink& sink);

 private:
  bool make_ready(TrackedFile& file, TailSink& sink);
  void announce(TrackedFile& file, TailSink& sink);
  void fail(TrackedFile& file, const Error& error, TailSink& sink);

  FileTable& table_;
  const std::vector<WatchRoot>& roots_;
  std::vector<char> buffer_;
};

}  // namespace trainwatch

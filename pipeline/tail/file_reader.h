// Reads a tracked file chunk by chunk and emits everything that concerns it to the sink.
#pragma once

#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

class FileReader {
 public:
  FileReader(FileTable& table, const std::vector<WatchRoot>& roots, const TailLimits& limits,
             const PatienceClock& clock);

  // Reads up to one chunk. After a failure the file is on hold. False: the file has other content
  // now; nothing was emitted.
  bool read_chunk(TrackedFile& file, TailSink& sink);

  // If the file is at its end and no more is expected, emits finished() and releases the
  // descriptor.
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
  const PatienceClock& clock_;
  std::vector<char> buffer_;
  std::vector<char> compare_;
};

}  // namespace trainwatch

// Reads a tracked file in chunks and makes all sink calls that concern it.
#pragma once

#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

class FileReader {
 public:
  FileReader(FileTable& table, const std::vector<WatchRoot>& roots, const TailLimits& limits,
             const PatienceClock& clock);

  // Reads up to one chunk. A failure puts the file on hold. False: the content of the file was
  // replaced; nothing was emitted.
  bool read_chunk(TrackedFile& file, TailSink& sink);

  // If the file is at its end and no more is expected, calls finished() and closes its descriptor.
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

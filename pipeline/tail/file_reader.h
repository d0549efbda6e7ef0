// SPDX-License-Identifier: Apache-2.0
// Reading: which file is next, and the next chunk of one.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "pipeline/tail/content_probe.h"
#include "pipeline/tail/file_table.h"

namespace trainwatch {

// The order of reading. A file and the one that took its path compare equal: the earlier one goes
// first.
bool reads_before(const TrackedFile& a, const TrackedFile& b);

// Which file is read next: the first in order with unread bytes, skipping lanes in which an earlier
// file cannot be read at the moment.
class ReadQueue {
 public:
  ReadQueue(const TailLimits& limits, const PatienceClock& clock)
      : limits_(limits), clock_(clock) {}

  // `holds`: files whose content is not known yet. Later files of their lanes wait.
  void fill(const FileTable& table, const std::vector<FilePlace>& holds);
  // The same for a few files, beside those that are left of the last fill().
  void add(const std::vector<TrackedFile*>& files, const FileTable& table,
           const std::vector<FilePlace>& holds);
  // The next file, even if it has no unread bytes any more; null if there is none.
  TrackedFile* front();
  void pop();
  // The lane of the next file comes behind the others, for the next kTurnsBehind turns.
  void end_turn();

 private:
  static constexpr int kTurnsBehind = 16;

  const TailLimits& limits_;
  const PatienceClock& clock_;
  void order(std::vector<TrackedFile*> files, const FileTable& table,
             const std::vector<FilePlace>& holds);
  int turns_behind(const TrackedFile& file) const;

  std::vector<TrackedFile*> files_;
  std::size_t next_ = 0;
  std::set<LaneId> held_;         // lanes that wait for a file
  std::map<LaneId, int> behind_;  // for so many turns
};

// Reads a tracked file in chunks and makes all sink calls that concern it.
class FileReader {
 public:
  FileReader(FileTable& table, const std::vector<WatchRoot>& roots, const TailLimits& limits,
             const PatienceClock& clock, const ContentProbe& probe);

  // Reads up to one chunk. A failure puts the file on hold. False: the content of the file was
  // replaced; nothing was emitted.
  bool read_chunk(TrackedFile& file, TailSink& sink);

  // If the file is at its end and no more is expected, calls finished() and closes its descriptor.
  void settle(TrackedFile& file, TailSink& sink);

  KnownFile known(const TrackedFile& file) const;

 private:
  bool may_grow(const TrackedFile& file) const;
  bool make_ready(TrackedFile& file, TailSink& sink);
  Result<bool> dispel_doubt(TrackedFile& file);
  std::span<char> buffer_for(const TrackedFile& file);
  bool shows_nothing(const TrackedFile& file, std::string_view bytes) const;
  void announce(TrackedFile& file, TailSink& sink);
  void fail(TrackedFile& file, const Error& error, TailSink& sink);

  FileTable& table_;
  const std::vector<WatchRoot>& roots_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  const ContentProbe& probe_;
  std::vector<char> buffer_;
  std::vector<char> compare_;
};

}  // namespace trainwatch

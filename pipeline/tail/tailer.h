// SPDX-License-Identifier: Apache-2.0
// Finds the files below the watched roots and reads what is new in them.
//
// One pass is a scan() followed by read() until it returns false. It reads every file that existed
// when the scan began to its end, in `ReadOrder` (time stamp in the name, then path). A writer
// completes a file before it starts the next one of its lane, so listing before reading preserves
// the order within a lane. A listing is not atomic, so a scan that finds new files lists twice.
// Polling is authoritative; inotify (InotifyHint) only says when another pass is worthwhile. If it
// reports that known files changed, refresh() is a cheap scan() that lists no directory.
//
// No threads and no clock: the caller passes the time of each scan. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/checkpoint_files.h"
#include "pipeline/tail/content_probe.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tail/known_file.h"
#include "pipeline/tail/patience.h"
#include "pipeline/tail/watch_root.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

struct TailLimits {
  std::size_t chunk_bytes = std::size_t{256} << 10U;
  std::size_t max_files = std::size_t{64} << 10U;
  std::size_t path_bytes = std::size_t{16} << 20U;  // of the known files
  // How many completed files, those with a newer file in their lane, are remembered.
  std::size_t max_done_files = 512;
  // Those whose successor began this long before the newest file of their lane, by the time stamps
  // in their names, are not, but for the last ones of each lane: copied files may come out of
  // order.
  Nanos done_age = std::chrono::hours(24);
  std::size_t done_of_lane = 16;
  std::size_t max_open_files = 1024;
  int max_depth = 8;
  // A writer may keep writing for a while to a file that was deleted or rotated.
  Nanos linger = std::chrono::seconds(5);
  // A file that has not changed for this long is forgotten if others need its place.
  Nanos idle{0};
  // With more files than this, those that have not changed for `rest_after` are looked at only once
  // in `rest` unless look_at() names them.
  std::size_t few_files = 1024;
  Nanos rest_after = std::chrono::seconds(30);
  Nanos rest = std::chrono::seconds(8);
  // A file whose name has vanished but whose inode may still exist (moved out of the tree,
  // unmounted) may come back, so its decoder is kept for this long.
  Nanos gone = std::chrono::minutes(5);
  // A file that has not been there for so long is forgotten, and so is a lane without any: what
  // comes back is new.
  Nanos vanished = std::chrono::hours(1);
  // The same for files in no root any more, since the start.
  Nanos unwatched = std::chrono::hours(24);
  // How long an unreadable file holds back the later files of its lane.
  Nanos hold = std::chrono::minutes(1);
  // The delay before a failed read is retried doubles up to the longest; that is shorter for a file
  // that holds back its lane.
  Nanos first_retry = std::chrono::seconds(1);
  Nanos longest_retry = std::chrono::minutes(1);
  Nanos longest_retry_of_lane = std::chrono::seconds(4);
  // Files of which only the contents can show that they are logs: how many are known at a time, how
  // much of each is looked at, and of all together in one scan.
  std::size_t max_candidates = 4096;
  std::size_t head_bytes = std::size_t{256} << 10U;
  std::size_t scan_head_bytes = std::size_t{16} << 20U;
  // How long one that may be a copy of another one waits for more records of both.
  Nanos copy_patience = std::chrono::minutes(1);
  // A network file system may report a stale size for a while (NFS: 3 s by default).
  Nanos shrunk = std::chrono::seconds(4);
  // See PatienceClock. Must exceed the interval between two scans.
  Nanos longest_gap = std::chrono::seconds(5);
};

// What was appended to a file. Valid during the call only.
struct AppendedBytes {
  std::string_view bytes;
  // When the file was last written to, as last seen before it was read; in a file that grows, about
  // when these bytes came.
  Time written{};
  // Of all of the content up to the end of `bytes`.
  const Fingerprint& read;
  // They end where the file did when it was last looked at.
  bool to_end = true;
};

// Receives what the tailer finds. Calls come in file order.
// For each file, opened() comes first. A file may be renamed after finished(), and if it grows
// after all, its data follows. A TailCheckpoint contains only what the sink has received, so a sink
// that saves it can start another tailer that resumes there.
class TailSink {
 public:
  virtual ~TailSink() = default;
  // Comes right before the first data or error, so never for an empty file. `repeated`
  // lists the files whose content this file, which is compressed, may repeat: the sink compares.
  virtual void opened(const KnownFile& file, const std::string& lane,
                      const std::vector<FileId>& repeated) = 0;
  virtual void data(FileId file, const AppendedBytes& appended) = 0;
  // The same content has a new name ("x.json.tmp" -> "x.json") or a new inode: it was rewritten,
  // copied before a truncation, or its file system was mounted again.
  virtual void renamed(const KnownFile& file) = 0;
  // The file lost its last 1 or 2 bytes: its writer closes an array. Reading resumes at the new
  // end.
  virtual void cut_back(FileId file, std::uint64_t bytes) = 0;
  // Truncated or replaced in place: the next data() starts at offset 0 of the new content.
  // `lost` is the number of bytes known to have been destroyed before they were read.
  virtual void restarted(FileId file, std::uint64_t lost) = 0;
  // No more is expected: the file is gone, or its lane has a newer file.
  virtual void finished(FileId file) = 0;
  // The read is retried with growing delays. Reported once for as long as the message is the same.
  virtual void read_error(FileId file, const std::string& what) = 0;
  // The last call for this file. `retired`: it still exists, but neither it nor any earlier file of
  // its lane will be read again.
  virtual void forgotten(FileId file, bool retired) = 0;
  // All files of the lane were forgotten, and none is there any more. Another lane may get its
  // number.
  virtual void lane_forgotten(LaneId lane) = 0;
  // May come at any time, and again for a file that is being written, or after a restart. What was
  // written before some data is reported before that data, if the last scan knew the file.
  virtual void checkpoint_written(const CheckpointFile& file) = 0;
};

struct TailedFile {  // for /api/v1/status
  FileId file{};
  LaneId lane{};
  std::string path;
  std::uint64_t size = 0;    // as last seen
  std::uint64_t offset = 0;  // read up to here
  std::string error;         // of the last read; empty if it succeeded
};

class Tailer {
 public:
  // `probe` is asked about files whose names do not say what they are. Without it these are not
  // read.
  Tailer(FileSystem& files, std::vector<WatchRoot> roots, TailLimits limits = {},
         const TailCheckpoint& resume = {}, ContentProbe probe = {});
  ~Tailer();

  // Looks for new, renamed, grown, truncated and vanished files. A root that does not exist yet is
  // not an error: every scan looks for it again. All waiting is measured by `now`.
  void scan(TailSink& sink, ScanTime now);

  // Something happened to these paths: the next scan() looks at them, however long they rested.
  // Nothing is expected to happen by itself: all files are at their ends, where they were, and no
  // read is to be tried again.
  bool settled() const;
  void look_at(const std::vector<std::string>& paths);
  void look_at_all();
  // Checks whether known, unfinished files have grown or shrunk; lists no directory and finds no
  // new, renamed or vanished files. For wake-ups between scans, which it does not replace. False: a
  // file got its first bytes, or what shows that it is a log, and can only be read after a scan.
  bool refresh();
  // The same for the files at these paths only.
  bool refresh(const std::vector<std::string>& paths);

  // Reads one chunk of the next file with unread bytes. False when every file is at its end.
  bool read(TailSink& sink);
  // The file that was read has had its turn: for a while, the files of other lanes come first. The
  // caller may scan or refresh before it reads on, and so finds what others wrote meanwhile.
  void end_turn();

  std::vector<TailedFile> files() const;
  std::uint64_t unread_bytes() const;
  // How many files the last scan left out because of max_files. A later scan takes them in once
  // others have been read and can be forgotten.
  std::uint64_t files_dropped() const;
  // The roots that the last scan did not find.
  const std::vector<std::string>& missing_roots() const;
  // What the last scan found and does not read.
  const SkippedPaths& skipped() const;
  // The last scan looked at as many beginnings of files as one may; there are more.
  bool has_unlooked() const;
  // How often beginnings of files were read to find out what they are, and how much of them.
  std::uint64_t looks() const;
  std::uint64_t bytes_looked_at() const;
  // The directories listed by the last scan, for InotifyHint.
  const std::vector<std::string>& directories() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwatch

// The known files by identity, their lanes, and the limits on known and open files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/known_file.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/tailer.h"
#include "pipeline/tail/tracked_file.h"

namespace trainwatch {

class FileTable {
 public:
  FileTable(FileSystem& files, const TailLimits& limits, const PatienceClock& clock)
      : files_(files), limits_(limits), clock_(clock) {}

  const std::vector<std::unique_ptr<TrackedFile>>& all() const { return tracked_; }
  TrackedFile* find(const FileIdentity& identity) const;
  bool full() const { return tracked_.size() >= limits_.max_files; }
  bool may_open_more() const { return open_ < limits_.max_open_files; }
  std::size_t open_files() const { return open_; }

  // True if this file or a later one of its lane was retired.
  bool was_forgotten(const FilePlace& place) const;
  TrackedFile& add(FilePlace place, const FileStat& stat);
  // Restores what was known before a restart. Files in no current root are left out, until revive()
  // finds them.
  void restore(const TailCheckpoint& checkpoint, const std::vector<WatchRoot>& roots);
  // Restores a file that was left out and has reappeared: at `path`, in a tree that was moved or
  // mounted elsewhere, or through another link. Null: there is none.
  TrackedFile* revive(const FileIdentity& identity, const std::string& path);
  // The content of the file is now in another inode, under `order`. What the old inode holds
  // becomes a new file, as old as `file`.
  void move(TrackedFile& file, ReadOrder order, const FileIdentity& identity);
  // A file that is added later gets the age it would have if it were added now.
  void reserve_number(const FileIdentity& identity);
  // Files that have not been added by now are no longer expected.
  void forget_numbers() { numbers_.clear(); }
  // Corrects ages by the names that one scan saw: a file found late may be old.
  void order_by_names(std::uint64_t scan);
  // A file that lost its name because it was rotated several times between two scans is older than
  // the current owners of its names: orders it before them.
  void place_lost();
  const std::string& lane_name(LaneId lane) const;

  // Up to `wanted` files that can be forgotten to make room, done ones first, oldest first.
  std::vector<TrackedFile*> spare(std::size_t wanted) const;
  // The done files beyond max_done_files, oldest first.
  std::vector<TrackedFile*> surplus() const;
  // Forgets a file that spare() or surplus() returned. True: its lane is retired up to and
  // including this file, which will not be read again.
  bool forget(TrackedFile& file);
  // The file does not exist any more.
  void remove(TrackedFile& file);

  // Opens the file unless it is open, closing another one if necessary. False: the path leads to
  // another file or to none.
  Result<bool> open(TrackedFile& file);
  void close(TrackedFile& file);

 private:
  struct Lane {
    LaneId id{};
    std::string name;
    bool any_forgotten = false;
    ReadOrder forgotten;  // up to and including this one
  };

  Lane& lane(const std::string& name);
  TrackedFile& take_in(const FileCheckpoint& saved);
  void close_least_used();

  FileSystem& files_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  std::vector<std::unique_ptr<TrackedFile>> tracked_;
  std::map<FileIdentity, TrackedFile*> by_identity_;
  std::map<FileIdentity, FileCheckpoint> unwatched_;  // in no root; with a birth time
  // TrackedFile::since of files yet to be added, on any device: they may be mounted again.
  std::map<FileIdentity, std::int64_t> numbers_;
  std::unordered_map<std::string, Lane> lanes_;
  // Values of lanes_, which stay where they are; null: a number that was used before a restart.
  std::vector<Lane*> lane_by_id_;
  std::uint32_t next_file_ = 1;
  std::size_t open_ = 0;
  std::uint64_t uses_ = 0;
};

// Nothing more is expected of the file, and the sink has received finished().
inline bool is_done(const TrackedFile& file) {
  return file.phase.over() && file.at_end();
}

}  // namespace trainwatch

// The files that the tailer knows, by identity; their lanes; and a bound on both the number of
// files and the number of open ones.
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
  FileTable(FileSystem& files, const TailLimits& limits) : files_(files), limits_(limits) {}

  const std::vector<std::unique_ptr<TrackedFile>>& all() const { return tracked_; }
  TrackedFile* find(const FileIdentity& identity) const;
  bool full() const { return tracked_.size() >= limits_.max_files; }
  bool may_open_more() const { return open_ < limits_.max_open_files; }
  std::size_t open_files() const { return open_; }

  // True when the file or a later one of its lane was known and has been forgotten.
  bool was_forgotten(const FilePlace& place) const;
  TrackedFile& add(FilePlace place, std::size_t root, const FileStat& stat);
  // Takes in what was known before a restart; files of roots that are watched no more are left out.
  void restore(const TailCheckpoint& checkpoint, const std::vector<WatchRoot>& roots);
  // The file's content lies in another inode now, under `order`. What is in the former one will be
  // a new file, as old as `file`.
  void move(TrackedFile& file, ReadOrder order, const FileIdentity& identity);
  // Makes a file that is to be added later as old as if it were added now.
  void reserve_number(const FileIdentity& identity);
  // What was not added by now is not expected any more.
  void forget_numbers() { numbers_.clear(); }
  // The names that one scan saw show an order: what was found late may have been written early.
  void order_by_names(std::uint64_t scan);
  // A file that was rotated several times between two scans, until its name was gone, is older than
  // those that have its names now: it is put before them.
  void place_lost();
  const std::string& lane_name(LaneId lane) const;

  // Makes room for `wanted` more files: returns those to be forgotten, done ones first, oldest
  // first. Fewer when no more can be spared.
  std::vector<TrackedFile*> spare(std::size_t wanted) const;
  // The done files beyond max_done_files, oldest first.
  std::vector<TrackedFile*> surplus() const;
  // Its name will not be read again: only for files that spare() or surplus() named. True: it bars
  // what comes before it in its lane.
  bool forget(TrackedFile& file);
  // The file does not exist any more.
  void remove(TrackedFile& file);

  // Opens the file unless it is open, and closes another one for it if need be. False: the path
  // leads to another file or to none.
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
  void close_least_used();

  FileSystem& files_;
  const TailLimits& limits_;
  std::vector<std::unique_ptr<TrackedFile>> tracked_;
  std::map<FileIdentity, TrackedFile*> by_identity_;
  // TrackedFile::since of files still to be added. On whatever device: they may be mounted again.
  std::map<FileIdentity, std::int64_t> numbers_;
  std::unordered_map<std::string, Lane> lanes_;
  // Values of lanes_, which stay where they are; null: a number that was used before a restart.
  std::vector<Lane*> lane_by_id_;
  std::uint32_t next_file_ = 1;
  std::size_t open_ = 0;
  std::uint64_t uses_ = 0;
};

// Nothing more is expected of the file, and the sink knows.
inline bool is_done(const TrackedFile& file) {
  return file.ending && file.at_end() && (file.finished || !file.announced);
}

}  // namespace trainwatch

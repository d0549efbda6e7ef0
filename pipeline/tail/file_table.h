// SPDX-License-Identifier: Apache-2.0
// The known files by identity, their lanes, and the limits on known and open files.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/known_file.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/lane_table.h"
#include "pipeline/tail/tailer.h"
#include "pipeline/tail/tracked_file.h"

namespace trainwatch {

struct IdentityHash {
  std::size_t operator()(const FileIdentity& identity) const {
    constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
    std::uint64_t hash = identity.inode * kMix;
    hash = (hash ^ static_cast<std::uint64_t>(identity.birth_ns)) * kMix;
    return static_cast<std::size_t>((hash ^ identity.device) * kMix);
  }
};

class FileTable {
 public:
  FileTable(FileSystem& files, const TailLimits& limits, const PatienceClock& clock)
      : files_(files), limits_(limits), clock_(clock) {}

  const std::vector<std::unique_ptr<TrackedFile>>& all() const { return tracked_; }
  // Every file is; see is_settled().
  bool settled() const;
  std::uint64_t unread_bytes() const;
  TrackedFile* find(const FileIdentity& identity) const;
  // The file that took this path last; null if it has another name by now.
  TrackedFile* at_path(std::string_view path) const;
  // The files with this base name (ReadOrder::base), oldest first.
  std::vector<TrackedFile*> same_base(std::string_view base) const;
  // How many more files may be known. Paths are limited in bytes, too: each is kept several times.
  std::size_t room() const {
    const bool full = tracked_.size() >= limits_.max_files || path_bytes_ >= limits_.path_bytes;
    return full ? 0 : limits_.max_files - tracked_.size();
  }
  bool may_open_more() const { return open_.size() < limits_.max_open_files; }

  LaneTable& lanes() { return lanes_; }
  const LaneTable& lanes() const { return lanes_; }
  // True if this file, which is there, or a later one of its lane was retired.
  bool was_forgotten(const FilePlace& place) { return lanes_.was_retired(place, clock_.now()); }
  TrackedFile& add(FilePlace place, const FileStat& stat);
  void rename(TrackedFile& file, ReadOrder order);
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
  // Corrects ages by the names that one scan saw: a file found late may be old. Cheap if no file
  // was added or got another name since the last call.
  void order_by_names(std::uint64_t scan);
  void note_names() { names_changed_ = true; }
  // A file that lost its name because it was rotated several times between two scans is older than
  // the current owners of its names: orders it before them.
  void place_lost();
  // What was there long ago and is not any more, of files in no root and of lanes. `may_exist`:
  // whether nothing is known about that path.
  struct Vanished {
    std::vector<FileId> files;
    std::vector<LaneId> lanes;
  };
  Vanished forget_vanished(const std::function<bool(const std::string&)>& may_exist);

  // Up to `wanted` files that can be forgotten to make room: empty ones first, then done ones, then
  // foreign ones, in order, then those that have not changed for the longest time.
  std::vector<TrackedFile*> spare(std::size_t wanted) const;
  // The done files beyond max_done_files, oldest first.
  std::vector<TrackedFile*> surplus() const;
  // The done files beyond done_age, oldest first in their lanes, which are removed next. None if
  // no file has become done since the last call.
  std::vector<TrackedFile*> outdated();
  // For a file that spare(), surplus() or outdated() returned and that is removed next. True: its
  // lane is retired up to and including this file, which will not be read again.
  bool retire(const TrackedFile& file);
  void remove(const std::vector<TrackedFile*>& files);

  // Opens the file unless it is open, closing another one if necessary. False: the path leads to
  // another file or to none.
  Result<bool> open(TrackedFile& file);
  void close(TrackedFile& file);

 private:
  TrackedFile& take_in(const FileCheckpoint& saved);
  TrackedFile& keep(std::unique_ptr<TrackedFile> file);
  void index(TrackedFile& file);
  void unindex(TrackedFile& file);
  void close_least_used();

  FileSystem& files_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  std::vector<std::unique_ptr<TrackedFile>> tracked_;
  std::size_t path_bytes_ = 0;
  // The keys are those of the files: unindex() before one changes.
  std::unordered_map<FileIdentity, TrackedFile*, IdentityHash> by_identity_;
  std::unordered_map<std::string_view, TrackedFile*> by_path_;
  std::unordered_multimap<std::string_view, TrackedFile*> by_base_;
  bool names_changed_ = false;                        // since order_by_names()
  std::map<FileIdentity, FileCheckpoint> unwatched_;  // in no root; with a birth time
  // TrackedFile::since of files yet to be added, on any device: they may be mounted again.
  std::map<FileIdentity, std::int64_t> numbers_;
  LaneTable lanes_;
  Nanos vanished_due_{0};  // when forget_vanished() looks again
  std::size_t done_ = 0;   // files of lanes that outdated() left
  std::uint32_t next_file_ = 1;
  std::list<TrackedFile*> open_;  // least recently used first
};

// Nothing more is expected of the file, and the sink has received finished().
inline bool is_done(const TrackedFile& file) {
  return file.phase.over() && file.at_end();
}

}  // namespace trainwatch

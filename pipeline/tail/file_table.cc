// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/file_table.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace trainwatch {

using Doubt = TrackedFile::Progress::Doubt;

namespace {

std::int64_t since(FileId id) {
  return static_cast<std::int64_t>(id) << 20U;  // leaves room for contents that appear in between
}

FileIdentity on_any_device(FileIdentity identity) {
  identity.device = 0;
  return identity;
}

}  // namespace

TrackedFile* FileTable::find(const FileIdentity& identity) const {
  const auto found = by_identity_.find(identity);
  return found == by_identity_.end() ? nullptr : found->second;
}

TrackedFile* FileTable::at_path(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

std::vector<TrackedFile*> FileTable::same_base(std::string_view base) const {
  std::vector<TrackedFile*> files;
  const auto [first, last] = by_base_.equal_range(base);
  for (auto entry = first; entry != last; ++entry) files.push_back(entry->second);
  std::ranges::sort(files, {}, [](const TrackedFile* file) { return file->identity.id; });
  return files;
}

bool FileTable::settled() const {
  return std::ranges::all_of(tracked_, [](const auto& file) { return is_settled(*file); });
}

std::uint64_t FileTable::unread_bytes() const {
  std::uint64_t unread = 0;
  for (const auto& file : tracked_) {
    if (file->progress.size > file->offset()) unread += file->progress.size - file->offset();
  }
  return unread;
}

void FileTable::index(TrackedFile& file) {
  const ReadOrder& order = file.identity.order;
  by_identity_[file.identity.inode] = &file;
  by_path_.erase(order.path);  // its key may belong to the file that had this path before
  by_path_.emplace(order.path, &file);
  by_base_.emplace(order.base, &file);
  path_bytes_ += order.path.size();
  names_changed_ = true;
}

void FileTable::unindex(TrackedFile& file) {
  const ReadOrder& order = file.identity.order;
  by_identity_.erase(file.identity.inode);
  if (at_path(order.path) == &file) by_path_.erase(order.path);
  const auto [first, last] = by_base_.equal_range(order.base);
  const auto entry = std::find_if(first, last, [&](const auto& e) { return e.second == &file; });
  if (entry != last) by_base_.erase(entry);
  path_bytes_ -= order.path.size();
}

TrackedFile& FileTable::keep(std::unique_ptr<TrackedFile> file) {
  index(*file);
  tracked_.push_back(std::move(file));
  return *tracked_.back();
}

void FileTable::rename(TrackedFile& file, ReadOrder order) {
  unindex(file);
  file.identity.order = std::move(order);
  index(file);
}

TrackedFile& FileTable::add(FilePlace place, const FileStat& stat) {
  auto file = std::make_unique<TrackedFile>();
  file->identity.id = static_cast<FileId>(next_file_++);
  const auto number = numbers_.extract(on_any_device(stat.identity));
  file->identity.since = number.empty() ? since(file->identity.id) : number.mapped();
  file->identity.lane = lanes_.intern(place.lane, clock_.now());
  file->identity.lane_is_single = place.single;
  file->identity.order = std::move(place.order);
  file->identity.inode = stat.identity;
  return keep(std::move(file));
}

void FileTable::restore(const TailCheckpoint& checkpoint, const std::vector<WatchRoot>& roots) {
  lanes_.restore(checkpoint.lanes);
  for (const FileCheckpoint& saved : checkpoint.files) {
    const KnownFile& known = saved.known;
    next_file_ = std::max(next_file_, static_cast<std::uint32_t>(known.file) + 1);
    if (by_identity_.contains(known.identity)) continue;
    if (root_of(known.path, roots) != nullptr) {
      take_in(saved);
    } else if (known.identity.birth_ns != 0) {
      unwatched_[known.identity] = saved;
    }
  }
}

TrackedFile& FileTable::take_in(const FileCheckpoint& saved) {
  const KnownFile& known = saved.known;
  auto file = std::make_unique<TrackedFile>();
  FilePlace place = place_of(known.path);
  file->identity = {known.file,      since(known.file),      known.lane,
                    place.single,    std::move(place.order), known.identity,
                    known.generation};
  file->progress.read = saved.read;
  file->progress.size = saved.read.offset();
  file->progress.doubt = Doubt::beginning;
  file->phase = FilePhase::restored(saved.finished);
  return keep(std::move(file));
}

TrackedFile* FileTable::revive(const FileIdentity& identity, const std::string& path) {
  const auto saved = unwatched_.extract(identity);
  if (saved.empty()) return nullptr;
  TrackedFile& file = take_in(saved.mapped());
  // Its lane continues under the name that new files beside it have.
  lanes_.rename(file.identity.lane, place_of(path).lane);
  return &file;
}

void FileTable::move(TrackedFile& file, ReadOrder order, const FileIdentity& identity) {
  close(file);
  unindex(file);
  numbers_[on_any_device(file.identity.inode)] = file.identity.since;
  file.identity.inode = identity;
  file.identity.generation = 0;
  file.identity.order = std::move(order);
  file.presence.found();
  file.presence.linked = true;
  file.progress.touched = true;
  file.progress.doubt = Doubt::none;
  index(file);
}

void FileTable::reserve_number(const FileIdentity& identity) {
  const auto [number, is_new] = numbers_.try_emplace(on_any_device(identity));
  if (is_new) number->second = since(static_cast<FileId>(next_file_++));
}

void FileTable::order_by_names(std::uint64_t scan) {
  if (!std::exchange(names_changed_, false)) return;
  std::vector<TrackedFile*> seen;
  for (const auto& file : tracked_) {
    if (by_base_.count(file->identity.order.base) < 2) continue;
    if (file->presence.seen_in_scan == scan && file->identity.lane_is_single)
      seen.push_back(file.get());
  }
  std::sort(seen.begin(), seen.end(), [](const TrackedFile* a, const TrackedFile* b) {
    return a->identity.order > b->identity.order;  // the newest first
  });
  for (std::size_t i = 1; i < seen.size(); ++i) {
    const TrackedFile& newer = *seen[i - 1];
    if (seen[i]->identity.order.base != newer.identity.order.base) continue;
    seen[i]->identity.since = std::min(seen[i]->identity.since, newer.identity.since - 1);
  }
}

void FileTable::place_lost() {
  for (const auto& lost : tracked_) {
    if (!lost->presence.missing || lost->at_end()) continue;
    const ReadOrder* first = nullptr;  // of those that were found later
    for (const TrackedFile* const file : same_base(lost->identity.order.base)) {
      const ReadOrder& order = file->identity.order;
      const bool same = order.stamp_ns == lost->identity.order.stamp_ns;
      if (!same || file->presence.missing || file->identity.since < lost->identity.since) continue;
      // A copy of what it held before it was truncated. Does not apply to compressed files: a log
      // is compressed long after it was written.
      const bool earlier = file->progress.modified_ns < lost->progress.modified_ns &&
                           !is_compressed(lost->identity.order);
      if (file->progress.size > 0 && earlier) continue;
      if (order.age <= lost->identity.order.age && (first == nullptr || order < *first))
        first = &order;
    }
    if (first == nullptr) continue;
    lost->identity.order.age = first->age;
    lost->identity.order.lost = lost->identity.since - since(FileId{~0U});
  }
}

std::vector<TrackedFile*> FileTable::spare(std::size_t wanted) const {
  enum class Rank : std::uint8_t { empty, done, foreign, idle, needed };
  const auto rank = [this](const TrackedFile& file) {
    if (!file.at_end()) return Rank::needed;
    if (is_untouched(file)) return Rank::empty;
    if (is_done(file)) return Rank::done;
    // The newest file of a lane is needed: forgetting it retires everything older in its lane.
    if (!file.identity.lane_is_single) return Rank::needed;
    const Nanos quiet = clock_.now() - file.presence.changed;
    if (file.progress.foreign && quiet >= limits_.linger) return Rank::foreign;
    return quiet >= limits_.idle ? Rank::idle : Rank::needed;
  };
  std::vector<std::pair<Rank, TrackedFile*>> spare;
  for (const auto& file : tracked_) {
    if (const Rank found = rank(*file); found != Rank::needed)
      spare.emplace_back(found, file.get());
  }
  std::sort(spare.begin(), spare.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const TrackedFile& left = *a.second;
    const TrackedFile& right = *b.second;
    const bool by_time =
        a.first == Rank::idle && left.progress.modified_ns != right.progress.modified_ns;
    if (by_time) return left.progress.modified_ns < right.progress.modified_ns;
    return left.identity.order < right.identity.order;
  });
  std::vector<TrackedFile*> files;
  for (const auto& [found, file] : spare) {
    if (files.size() == wanted) break;
    files.push_back(file);
  }
  return files;
}

std::vector<TrackedFile*> FileTable::surplus() const {
  std::vector<TrackedFile*> done;
  for (const auto& file : tracked_) {
    if (!file->identity.lane_is_single && is_done(*file)) done.push_back(file.get());
  }
  if (done.size() <= limits_.max_done_files) return {};
  std::sort(done.begin(), done.end(), [](const TrackedFile* a, const TrackedFile* b) {
    return a->identity.order < b->identity.order;
  });
  done.resize(done.size() - limits_.max_done_files);
  return done;
}

std::vector<TrackedFile*> FileTable::outdated() {
  const auto has_stamp = [](const std::unique_ptr<TrackedFile>& file) {
    return !file->identity.lane_is_single && file->identity.order.stamp_ns != ReadOrder::kNoStamp;
  };
  const auto done = static_cast<std::size_t>(std::ranges::count_if(
      tracked_, [&](const auto& file) { return has_stamp(file) && is_done(*file); }));
  if (done == done_) return {};
  std::vector<TrackedFile*> files;  // by lane, in order
  for (const auto& file : tracked_) {
    if (has_stamp(file)) files.push_back(file.get());
  }
  std::ranges::sort(files, [](const TrackedFile* a, const TrackedFile* b) {
    return std::tie(a->identity.lane, a->identity.order) <
           std::tie(b->identity.lane, b->identity.order);
  });
  std::vector<TrackedFile*> outdated;
  for (auto first = files.begin(); first != files.end();) {
    const auto end =
        std::find_if(first, files.end(), [lane = (*first)->identity.lane](const TrackedFile* file) {
          return file->identity.lane != lane;
        });
    const std::int64_t newest = (*std::prev(end))->identity.order.stamp_ns;
    const auto is_outdated = [&](auto file) {
      return is_done(**file) &&
             newest - (*std::next(file))->identity.order.stamp_ns > limits_.done_age.count();
    };
    const auto kept = static_cast<std::ptrdiff_t>(limits_.done_of_lane) + 1;  // and the newest
    for (auto file = first; end - file > kept && is_outdated(file); ++file) {
      outdated.push_back(*file);
    }
    first = end;
  }
  done_ = done - outdated.size();
  return outdated;
}

bool FileTable::retire(const TrackedFile& file) {
  if (is_untouched(file)) return false;  // once it has content, it is a new file
  // A name given by rotation is reused for other content; one with a time stamp is not.
  const bool retires = !file.presence.missing || !file.identity.lane_is_single;
  if (retires) {
    lanes_.retire(file.identity.lane, file.identity.order, file.identity.lane_is_single,
                  file.offset());
  }
  return retires;
}

void FileTable::remove(const std::vector<TrackedFile*>& files) {
  if (files.empty()) return;
  const std::unordered_set<const TrackedFile*> going(files.begin(), files.end());
  for (TrackedFile* const file : files) {
    close(*file);
    unindex(*file);
  }
  std::erase_if(tracked_, [&going](const auto& each) { return going.contains(each.get()); });
}

FileTable::Vanished FileTable::forget_vanished(
    const std::function<bool(const std::string&)>& may_exist) {
  const Nanos now = clock_.now();
  Vanished vanished;
  if (now < vanished_due_) return vanished;
  vanished_due_ = now + limits_.vanished / 8;
  for (const auto& file : tracked_) lanes_.saw(file->identity.lane, now);
  if (now >= limits_.unwatched) {
    for (const auto& [identity, file] : unwatched_) vanished.files.push_back(file.known.file);
    unwatched_.clear();
  }
  for (const auto& [identity, file] : unwatched_) lanes_.saw(file.known.lane, now);
  vanished.lanes = lanes_.forget_vanished(now, limits_.vanished, may_exist);
  return vanished;
}

Result<bool> FileTable::open(TrackedFile& file) {
  if (file.presence.handle != nullptr) {
    open_.splice(open_.end(), open_, file.presence.among_open);
    return true;
  }
  if (!may_open_more()) close_least_used();
  auto opened = files_.open(file.identity.order.path);
  if (!opened) {
    const auto there = files_.stat(file.identity.order.path);
    if (!there || there->identity != file.identity.inode) return false;
    return opened.error();
  }
  const auto stat = (*opened)->stat();
  if (!stat) return stat.error();
  if (stat->identity != file.identity.inode) return false;
  const bool same = stat->generation == file.identity.generation && stat->identity.birth_ns != 0;
  const bool known = file.identity.generation != 0 && stat->generation != 0;
  if (known ? stat->generation != file.identity.generation
            : file.progress.doubt != Doubt::none && !same) {
    file.progress.doubt = Doubt::all;
  }
  file.identity.generation = stat->generation;
  file.presence.remote = stat->remote;
  const bool shorter = stat->size < file.offset();
  file.presence.shorter.set(file.presence.remote && shorter, clock_.now());
  file.presence.shrunk = file.presence.remote && shorter &&
                         !file.presence.shorter.held_for(limits_.shrunk, clock_.now());
  file.presence.handle = std::move(*opened);
  file.presence.was_open = true;
  file.presence.among_open = open_.insert(open_.end(), &file);
  return true;
}

void FileTable::close(TrackedFile& file) {
  if (file.presence.handle == nullptr) return;
  file.presence.handle.reset();
  open_.erase(file.presence.among_open);
}

void FileTable::close_least_used() {
  // A file whose name is gone is reachable only through its descriptor.
  const auto least = std::ranges::find_if(open_, [](const TrackedFile* file) {
    return !file->presence.missing && file->presence.linked;
  });
  if (least != open_.end()) close(**least);
}

}  // namespace trainwatch

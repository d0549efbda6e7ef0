#include "pipeline/tail/file_table.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

using Doubt = TrackedFile::Doubt;

namespace {

std::int64_t since(FileId id) {
  return static_cast<std::int64_t>(id) << 20U;  // leaves room for contents that come one by one
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

bool FileTable::was_forgotten(const FilePlace& place) const {
  const auto lane = lanes_.find(place.lane);
  return lane != lanes_.end() && lane->second.any_forgotten &&
         place.order <= lane->second.forgotten;
}

TrackedFile& FileTable::add(FilePlace place, std::size_t root, const FileStat& stat) {
  auto file = std::make_unique<TrackedFile>();
  file->id = static_cast<FileId>(next_file_++);
  const auto number = numbers_.extract(on_any_device(stat.identity));
  file->since = number.empty() ? since(file->id) : number.mapped();
  file->lane = lane(place.lane).id;
  file->lane_is_single = place.single;
  file->root = root;
  file->order = std::move(place.order);
  file->identity = stat.identity;
  by_identity_[stat.identity] = file.get();
  tracked_.push_back(std::move(file));
  return *tracked_.back();
}

FileTable::Lane& FileTable::lane(const std::string& name) {
  const auto [entry, is_new] = lanes_.try_emplace(name);
  if (is_new) {
    entry->second.id = static_cast<LaneId>(lane_by_id_.size());
    entry->second.name = name;
    lane_by_id_.push_back(&entry->second);
  }
  return entry->second;
}

const std::string& FileTable::lane_name(LaneId lane) const {
  return lane_by_id_[static_cast<std::size_t>(lane)]->name;
}

void FileTable::restore(const TailCheckpoint& checkpoint, const std::vector<WatchRoot>& roots) {
  for (const LaneCheckpoint& saved : checkpoint.lanes) {
    const auto number = static_cast<std::size_t>(saved.lane);
    if (lane_by_id_.size() <= number) lane_by_id_.resize(number + 1);
    Lane& lane = lanes_[saved.name];
    lane.id = saved.lane;
    lane.name = saved.name;
    lane.any_forgotten = !saved.forgotten_path.empty();
    if (lane.any_forgotten) lane.forgotten = place_of(saved.forgotten_path).order;
    lane_by_id_[number] = &lane;
  }
  for (const FileCheckpoint& saved : checkpoint.files) {
    const KnownFile& known = saved.known;
    next_file_ = std::max(next_file_, static_cast<std::uint32_t>(known.file) + 1);
    const auto root = std::find_if(roots.begin(), roots.end(), [&](const WatchRoot& each) {
      return each.source == known.source;
    });
    if (root == roots.end() || by_identity_.contains(known.identity)) continue;
    auto file = std::make_unique<TrackedFile>();
    FilePlace place = place_of(known.path);
    file->id = known.file;
    file->since = since(known.file);
    file->lane = known.lane;
    file->lane_is_single = place.single;
    file->root = static_cast<std::size_t>(root - roots.begin());
    file->order = std::move(place.order);
    file->identity = known.identity;
    file->generation = known.generation;
    file->read = saved.read;
    file->size = saved.read.offset();
    file->announced = true;
    file->finished = saved.finished;
    file->doubt = Doubt::beginning;
    by_identity_[known.identity] = file.get();
    tracked_.push_back(std::move(file));
  }
}

void FileTable::move(TrackedFile& file, ReadOrder order, const FileIdentity& identity) {
  close(file);
  by_identity_.erase(file.identity);
  numbers_[on_any_device(file.identity)] = file.since;
  file.identity = identity;
  file.generation = 0;
  file.order = std::move(order);
  file.missing = false;
  file.missing_polls = 0;
  file.linked = true;
  file.touched = true;
  file.doubt = Doubt::none;
  by_identity_[identity] = &file;
}

void FileTable::reserve_number(const FileIdentity& identity) {
  const auto [number, is_new] = numbers_.try_emplace(on_any_device(identity));
  if (is_new) number->second = since(static_cast<FileId>(next_file_++));
}

void FileTable::order_by_names(std::uint64_t scan) {
  std::vector<TrackedFile*> seen;
  for (const auto& file : tracked_) {
    if (file->seen_in_scan == scan && file->lane_is_single) seen.push_back(file.get());
  }
  std::sort(seen.begin(), seen.end(), [](const TrackedFile* a, const TrackedFile* b) {
    return a->order > b->order;  // the newest first
  });
  for (std::size_t i = 1; i < seen.size(); ++i) {
    const TrackedFile& newer = *seen[i - 1];
    if (seen[i]->order.base != newer.order.base) continue;
    seen[i]->since = std::min(seen[i]->since, newer.since - 1);
  }
}

void FileTable::place_lost() {
  for (const auto& lost : tracked_) {
    if (!lost->missing || lost->at_end()) continue;
    const ReadOrder* first = nullptr;  // of those that were found later
    for (const auto& file : tracked_) {
      const ReadOrder& order = file->order;
      const bool same = order.base == lost->order.base && order.stamp_ns == lost->order.stamp_ns;
      if (!same || file->missing || file->since < lost->since) continue;
      // A copy of what it held before it was truncated. A log is compressed long after it was
      // written.
      const bool earlier = file->modified_ns < lost->modified_ns && !is_compressed(lost->order);
      if (file->size > 0 && earlier) continue;
      if (order.age <= lost->order.age && (first == nullptr || order < *first)) first = &order;
    }
    if (first == nullptr) continue;
    lost->order.age = first->age;
    lost->order.lost = lost->since - since(FileId{~0U});
  }
}

std::vector<TrackedFile*> FileTable::spare(std::size_t wanted) const {
  // The newest file of a lane is needed: what is forgotten bars everything older in its lane.
  std::vector<TrackedFile*> spare;
  for (const auto& file : tracked_) {
    if (file->at_end() && (is_done(*file) || file->lane_is_single)) spare.push_back(file.get());
  }
  std::sort(spare.begin(), spare.end(), [](const TrackedFile* a, const TrackedFile* b) {
    if (is_done(*a) != is_done(*b)) return is_done(*a);
    return a->order < b->order;
  });
  if (spare.size() > wanted) spare.resize(wanted);
  return spare;
}

std::vector<TrackedFile*> FileTable::surplus() const {
  std::vector<TrackedFile*> done;
  for (const auto& file : tracked_) {
    if (!file->lane_is_single && is_done(*file)) done.push_back(file.get());
  }
  if (done.size() <= limits_.max_done_files) return {};
  std::sort(done.begin(), done.end(),
            [](const TrackedFile* a, const TrackedFile* b) { return a->order < b->order; });
  done.resize(done.size() - limits_.max_done_files);
  return done;
}

bool FileTable::forget(TrackedFile& file) {
  Lane& lane = *lane_by_id_[static_cast<std::size_t>(file.lane)];
  // A name that rotation gave comes again with other content; one with a time stamp does not.
  const bool bars = !file.missing || !file.lane_is_single;
  if (bars && (!lane.any_forgotten || lane.forgotten < file.order)) {
    lane.any_forgotten = true;
    lane.forgotten = file.order;
  }
  remove(file);
  return bars;
}

void FileTable::remove(TrackedFile& file) {
  close(file);
  by_identity_.erase(file.identity);
  std::erase_if(tracked_, [&file](const auto& each) { return each.get() == &file; });
}

Result<bool> FileTable::open(TrackedFile& file) {
  file.last_used = ++uses_;
  if (file.handle != nullptr) return true;
  if (!may_open_more()) close_least_used();
  auto opened = files_.open(file.order.path);
  if (!opened) {
    const auto there = files_.stat(file.order.path);
    if (!there || there->identity != file.identity) return false;
    return opened.error();
  }
  const auto stat = (*opened)->stat();
  if (!stat) return stat.error();
  if (stat->identity != file.identity) return false;
  const bool same = stat->generation == file.generation && stat->identity.birth_ns != 0;
  const bool known = file.generation != 0 && stat->generation != 0;
  if (known ? stat->generation != file.generation : file.doubt != Doubt::none && !same) {
    file.doubt = Doubt::all;
  }
  file.generation = stat->generation;
  file.remote = stat->remote;
  const bool shorter = stat->size < file.offset();
  file.shrunk = file.remote && shorter && file.shrunk_polls < limits_.shrunk_polls;
  file.handle = std::move(*opened);
  file.was_open = true;
  ++open_;
  return true;
}

void FileTable::close(TrackedFile& file) {
  if (file.handle == nullptr) return;
  file.handle.reset();
  --open_;
}

void FileTable::close_least_used() {
  TrackedFile* least = nullptr;
  for (const auto& file : tracked_) {
    // The descriptor is the only way left to a file whose name is gone.
    if (file->handle == nullptr || file->missing || !file->linked) continue;
    if (least == nullptr || file->last_used < least->last_used) least = file.get();
  }
  if (least != nullptr) close(*least);
}

}  // namespace trainwatch

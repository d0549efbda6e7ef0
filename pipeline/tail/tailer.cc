#include "pipeline/tail/tailer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "pipeline/tail/discovery.h"
#include "pipeline/tail/file_reader.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/first_sight.h"
#include "pipeline/tail/newcomers.h"
#include "pipeline/tail/read_queue.h"

namespace trainwatch {
struct Tailer::Parts {
  Parts(FileSystem& file_system, std::vector<WatchRoot> watch_roots, TailLimits tail_limits,
        const TailCheckpoint& resume)
      : files(file_system),
        roots(std::move(watch_roots)),
        limits(tail_limits),
        table(files, limits),
        reader(table, roots, limits),
        newcomers(files, table, reader, limits) {
    assert(limits.chunk_bytes > 0);
    table.restore(resume, roots);
  }

  void meet(const Candidate& candidate);
  void rename(TrackedFile& file, TailSink& sink);
  void look_for_missing(TrackedFile& file, const ScanContext& scan);
  void note_beginnings(const ScanContext& scan);
  bool goes_on_compressed(const TrackedFile& file) const;
  void find_endings();
  void drop_done(TailSink& sink);
  void grow_older(TrackedFile& file) const;

  FileSystem& files;
  std::vector<WatchRoot> roots;
  TailLimits limits;
  FileTable table;
  FileReader reader;
  Newcomers newcomers;
  Listing listing;
  std::vector<const TrackedFile*> newest_in_lane;  // of those that the last scan found
  ReadQueue queue;
  std::uint64_t scan_number = 0;
  unsigned age = 1;  // polls that this scan counts for
};

// One name of the listing: a file we know, under the name we know or a new one, or a new file.
void Tailer::Parts::meet(const Candidate& candidate) {
  const auto stat = files.stat(candidate.path);
  if (!stat) return;
  TrackedFile* const file = table.find(stat->identity);
  if (file == nullptr) {
    FilePlace place = place_of(candidate.path);
    if (table.was_forgotten(place)) return;
    newcomers.met(std::move(place), *stat, candidate.root);
    return;
  }
  const bool own_name = candidate.path == file->order.path;
  if (file->seen_in_scan == scan_number) {  // a hard link, or renamed while we looked
    if (own_name) file->seen_as.clear();
    return;
  }
  file->seen_in_scan = scan_number;
  file->missing = false;
  file->missing_polls = 0;
  file->seen_as = own_name ? std::string() : candidate.path;
  observe(*file, *stat, limits.shrunk_polls);
}

void Tailer::Parts::rename(TrackedFile& file, TailSink& sink) {
  file.order = place_of(file.seen_as).order;
  file.seen_as.clear();
  if (file.announced) sink.renamed(reader.known(file));
}

void Tailer::Parts::look_for_missing(TrackedFile& file, const ScanContext& scan) {
  const auto at_path = files.stat(file.order.path);
  if (at_path && at_path->identity == file.identity) {  // its directory could not be listed
    file.missing = false;
    file.missing_polls = 0;
    observe(file, *at_path, limits.shrunk_polls);
    return;
  }
  file.missing = true;
  file.missing_polls += age;
  const auto lane = static_cast<std::size_t>(file.lane);
  const bool lane_goes_on = lane < newest_in_lane.size() && newest_in_lane[lane] != nullptr;
  const unsigned patience = lane_goes_on ? limits.linger_polls : limits.gone_polls;
  if (!scan.lists_directory_of(file.order.path) && file.missing_polls <= patience) {
    file.blocked = file.handle == nullptr;  // its lane waits: it may be mounted again
    file.wait_polls = 1;
  } else if (file.handle == nullptr) {
    file.size = std::min(file.size, file.offset());
    file.touched = false;
    file.shrunk = false;
  }
  if (file.handle == nullptr) return;
  if (const auto stat = file.handle->stat()) observe(file, *stat, limits.shrunk_polls);
  const unsigned most = file.linked ? patience : limits.linger_polls;
  if (file.missing_polls > most && !file.error.empty()) {  // unreadable and gone
    file.size = file.offset();
    file.touched = false;
  }
}

// A file that begins may be truncated before it is read. While its directory cannot be listed, what
// was written before it may be there unseen.
void Tailer::Parts::note_beginnings(const ScanContext& scan) {
  for (const auto& file : table.all()) {
    file->former_sight.clear();
    const bool listed = scan.lists_directory_of(file->order.path);
    file->unlisted_polls = listed ? 0 : file->unlisted_polls + age;
    if (!(begins(*file) || shows_more(*file)) || file->blocked) continue;
    if (!listed && file->unlisted_polls <= kLongestHold) {
      file->blocked = true;
    } else if (file->failures > 0) {
      continue;  // the reader tries it, less and less often
    } else if (file->handle != nullptr) {
      (void)note_first_sight(*file->handle, *file);  // read() tells what fails
    } else if (const auto opened = files.open(file->order.path)) {
      (void)note_first_sight(**opened, *file);
    }
  }
}

// The rest of its last record may be in a compressed file that was not read yet.
bool Tailer::Parts::goes_on_compressed(const TrackedFile& file) const {
  if (file.read.ends_whole() || file.quiet_polls > limits.linger_polls) return false;
  return std::ranges::any_of(table.all(), [&file](const auto& other) {
    return other->order.base == file.order.base && is_compressed(other->order) &&
           other->offset() == 0;
  });
}

void Tailer::Parts::find_endings() {
  newest_in_lane.assign(newest_in_lane.size(), nullptr);
  for (const auto& file : table.all()) {
    const auto lane = static_cast<std::size_t>(file->lane);
    if (lane >= newest_in_lane.size()) newest_in_lane.resize(lane + 1, nullptr);
    const TrackedFile*& newest = newest_in_lane[lane];
    if (file->missing) continue;
    if (newest == nullptr || reads_before(*newest, *file)) newest = file.get();
  }
  for (const auto& file : table.all()) {
    const TrackedFile* newest = newest_in_lane[static_cast<std::size_t>(file->lane)];
    // A rotated file may still be written to; one that was not seen again since a restart may have
    // been copied or compressed meanwhile.
    const bool found = !file->missing || file->doubt == TrackedFile::Doubt::none;
    const unsigned patience = file->read.ends_whole() ? limits.linger_polls : limits.gone_polls;
    const bool over = file->quiet_polls > patience && file->at_end();
    const bool rests = (file->order.age == 0 && found) || over;
    const bool passed = newest != nullptr && reads_before(*file, *newest);
    // Attributes may lag behind, but the writer is done: reading tells where the file ends.
    const bool may_lag = file->remote || !file->was_open;
    if (passed && !file->passed && may_lag && !file->finished) file->touched = true;
    if (passed && !file->passed && file->failures > 0) {  // from now on its lane waits for it
      file->wait_polls = std::min(file->wait_polls, kRetryWhileLaneWaits);
      file->failing_polls = 0;
    }
    file->passed = passed;
    const bool may_go_on =
        file->missing && (newcomers.may_be_unclear(*file) || goes_on_compressed(*file));
    const bool over_now = (passed && rests) || !file->linked;
    file->ending = (over_now && !may_go_on) || file->missing_polls >= limits.gone_polls;
  }
}

void Tailer::Parts::drop_done(TailSink& sink) {
  std::vector<TrackedFile*> unlinked;
  for (const auto& file : table.all()) {
    reader.settle(*file, sink);
    const bool out_of_place = file->missing || file->order.age != 0;
    file->quiet_polls = out_of_place && file->at_end() ? file->quiet_polls + age : 0;
    if (!file->missing || file->quiet_polls <= limits.linger_polls) continue;
    table.close(*file);
    if (!file->linked && is_done(*file)) unlinked.push_back(file.get());
  }
  for (TrackedFile* const file : unlinked) {
    const FileId id = file->id;
    const bool announced = file->announced;
    table.remove(*file);
    if (announced) sink.forgotten(id, false);
  }
}

void Tailer::Parts::grow_older(TrackedFile& file) const {
  file.wait_polls -= std::min(file.wait_polls, age);
  if (file.wait_polls == 0) file.blocked = false;
  file.failing_polls = file.failures > 0 ? file.failing_polls + age : 0;
  if (file.shrunk) file.shrunk_polls += age;
}

Tailer::Tailer(FileSystem& files, std::vector<WatchRoot> roots, TailLimits limits,
               const TailCheckpoint& resume)
    : parts_(std::make_unique<Parts>(files, std::move(roots), limits, resume)) {}

Tailer::~Tailer() = default;

void Tailer::scan(TailSink& sink, Look look) {
  Parts& p = *parts_;
  ++p.scan_number;
  p.age = look == Look::poll ? 1 : 0;
  list_roots(p.files, p.roots, p.limits.max_depth, p.listing);
  // Only now the sizes: a file older than one that was listed has been written to its end.
  for (const Candidate& candidate : p.listing.files) p.meet(candidate);
  const ScanContext context{p.scan_number, p.age, p.listing, sink};
  for (const auto& file : p.table.all()) {
    p.grow_older(*file);
    if (file->seen_in_scan != p.scan_number) {
      p.look_for_missing(*file, context);
    } else if (!file->seen_as.empty()) {
      p.rename(*file, sink);
    }
  }
  p.newcomers.take_in(context);
  p.note_beginnings(context);
  p.table.order_by_names(p.scan_number);
  p.table.place_lost();
  p.find_endings();
  p.drop_done(sink);
  p.queue.fill(p.table, p.newcomers.holds());
}

bool Tailer::refresh() {
  Parts& p = *parts_;
  bool any_begins = false;
  for (const auto& file : p.table.all()) {
    // A rotated file may still be written to, and comes before the one that took its name.
    if (file->blocked || (file->ending && file->order.age == 0)) continue;
    const auto stat = file->handle ? file->handle->stat() : p.files.stat(file->order.path);
    if (!stat || stat->identity != file->identity) continue;
    if (!observe(*file, *stat, p.limits.shrunk_polls)) continue;
    if (file->order.age != 0 && file->linked && !file->missing) file->ending = false;
    if (!begins(*file)) continue;
    file->blocked = true;  // what was written before may have another name by now
    any_begins = true;
  }
  p.queue.fill(p.table, p.newcomers.holds());
  return !any_begins;
}

bool Tailer::read(TailSink& sink) {
  Parts& p = *parts_;
  while (TrackedFile* const file = p.queue.front()) {
    if (file->unread()) {
      if (!p.reader.read_chunk(*file, sink)) {
        p.newcomers.replaced(*file, sink);
        p.queue.fill(p.table, p.newcomers.holds());
      }
      return true;
    }
    p.reader.settle(*file, sink);
    p.queue.pop();
  }
  return false;
}

std::vector<TailedFile> Tailer::files() const {
  std::vector<TailedFile> result;
  result.reserve(parts_->table.all().size());
  for (const auto& file : parts_->table.all()) {
    result.push_back(
        {file->id, file->lane, file->order.path, file->size, file->offset(), file->error});
  }
  return result;
}

std::uint64_t Tailer::unread_bytes() const {
  std::uint64_t unread = 0;
  for (const auto& file : parts_->table.all()) {
    if (file->size > file->offset()) unread += file->size - file->offset();
  }
  return unread;
}

std::uint64_t Tailer::files_dropped() const {
  return parts_->newcomers.dropped();
}

const std::vector<std::string>& Tailer::directories() const {
  return parts_->listing.directories;
}

}  // namespace trainwatch

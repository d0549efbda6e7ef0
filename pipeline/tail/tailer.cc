#include "pipeline/tail/tailer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "pipeline/tail/discovered_files.h"
#include "pipeline/tail/file_reader.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {
struct Tailer::Impl {
  Impl(FileSystem& file_system, std::vector<WatchRoot> watch_roots, TailLimits tail_limits,
       const TailCheckpoint& resume)
      : files(file_system),
        roots(std::move(watch_roots)),
        limits(tail_limits),
        clock(limits.longest_gap),
        table(files, limits, clock),
        reader(table, roots, limits, clock),
        discovered(files, table, reader, limits, clock),
        queue(limits, clock) {
    assert(limits.chunk_bytes > 0);
    table.restore(resume, roots);
  }

  void meet(const std::string& path);
  void rename(TrackedFile& file, TailSink& sink);
  void look_for_missing(TrackedFile& file, const ScanContext& scan);
  void note_beginnings(const ScanContext& scan);
  bool goes_on_compressed(const TrackedFile& file) const;
  void find_endings();
  void drop_done(TailSink& sink);
  bool see(TrackedFile& file, const FileStat& stat) const {
    return observe(file, stat, limits.shrunk, clock.now());
  }

  FileSystem& files;
  std::vector<WatchRoot> roots;
  TailLimits limits;
  PatienceClock clock;
  FileTable table;
  FileReader reader;
  DiscoveredFiles discovered;
  Listing listing;
  std::vector<const TrackedFile*> newest_in_lane;  // found by the last scan
  ReadQueue queue;
  CheckpointFiles checkpoints;
  bool checkpoints_due = false;  // they may have been written to since they were looked at
  std::uint64_t scan_number = 0;
};

// Handles one listed name: a known file, under its known or a new name, or a new file.
void Tailer::Impl::meet(const std::string& path) {
  const auto stat = files.stat(path);
  if (!stat) return;
  TrackedFile* file = table.find(stat->identity);
  if (file == nullptr) file = table.revive(stat->identity, path);
  if (file == nullptr) {
    FilePlace place = place_of(path);
    if (table.was_forgotten(place)) return;
    discovered.met(std::move(place), *stat);
    return;
  }
  const bool own_name = path == file->identity.order.path;
  if (file->presence.seen_in_scan == scan_number) {  // a hard link, or renamed during the listing
    if (own_name) file->presence.seen_as.clear();
    return;
  }
  file->presence.seen_in_scan = scan_number;
  file->presence.found();
  file->presence.seen_as = own_name ? std::string() : path;
  see(*file, *stat);
}

void Tailer::Impl::rename(TrackedFile& file, TailSink& sink) {
  file.identity.order = place_of(file.presence.seen_as).order;
  file.presence.seen_as.clear();
  if (file.phase.opened()) sink.renamed(reader.known(file));
}

void Tailer::Impl::look_for_missing(TrackedFile& file, const ScanContext& scan) {
  const auto at_path = files.stat(file.identity.order.path);
  if (at_path && at_path->identity == file.identity.inode) {  // its directory could not be listed
    file.presence.found();
    see(file, *at_path);
    return;
  }
  const Nanos now = clock.now();
  file.presence.missed(now);
  const auto lane = static_cast<std::size_t>(file.identity.lane);
  const bool lane_goes_on = lane < newest_in_lane.size() && newest_in_lane[lane] != nullptr;
  const Nanos patience = lane_goes_on ? limits.linger : limits.gone;
  if (!scan.lists_directory_of(file.identity.order.path) &&
      !file.presence.gone.held_for(patience, now)) {
    file.hold.release();
    if (file.presence.handle == nullptr) file.hold.until_next_scan();  // it may be mounted again
  } else if (file.presence.handle == nullptr) {
    file.progress.size = std::min(file.progress.size, file.offset());
    file.progress.touched = false;
    file.presence.shrunk = false;
  }
  if (file.presence.handle == nullptr) return;
  if (const auto stat = file.presence.handle->stat()) see(file, *stat);
  const Nanos most = file.presence.linked ? patience : limits.linger;
  if (file.presence.gone.held_for(most, now) &&
      !file.progress.error.empty()) {  // unreadable and gone
    file.progress.size = file.offset();
    file.progress.touched = false;
  }
}

// A file that just got its first bytes may be truncated before it is read. While its directory
// cannot be listed, what was written before may exist unseen.
void Tailer::Impl::note_beginnings(const ScanContext& scan) {
  for (const auto& file : table.all()) {
    file->progress.former_head.clear();
    const bool listed = scan.lists_directory_of(file->identity.order.path);
    file->presence.unlisted.set(!listed, clock.now());
    if (!(begins(*file) || shows_more(*file)) || file->hold.active()) continue;
    if (!listed && !file->presence.unlisted.held_for(limits.hold, clock.now())) {
      file->hold.until_next_scan();
    } else if (file->hold.failures() > 0) {
      continue;  // the reader retries it, with growing delays
    } else if (file->presence.handle != nullptr) {
      (void)note_head(*file->presence.handle, *file);  // read() reports failures
    } else if (const auto opened = files.open(file->identity.order.path)) {
      (void)note_head(**opened, *file);
    }
  }
}

// The rest of its last record may be in a compressed file that has not been read yet.
bool Tailer::Impl::goes_on_compressed(const TrackedFile& file) const {
  if (file.progress.read.ends_whole() || file.presence.quiet.held_for(limits.linger, clock.now()))
    return false;
  return std::ranges::any_of(table.all(), [&file](const auto& other) {
    return other->identity.order.base == file.identity.order.base &&
           is_compressed(other->identity.order) && other->offset() == 0;
  });
}

void Tailer::Impl::find_endings() {
  newest_in_lane.assign(newest_in_lane.size(), nullptr);
  for (const auto& file : table.all()) {
    const auto lane = static_cast<std::size_t>(file->identity.lane);
    if (lane >= newest_in_lane.size()) newest_in_lane.resize(lane + 1, nullptr);
    const TrackedFile*& newest = newest_in_lane[lane];
    if (file->presence.missing) continue;
    if (newest == nullptr || reads_before(*newest, *file)) newest = file.get();
  }
  const Nanos now = clock.now();
  for (const auto& file : table.all()) {
    const TrackedFile* newest = newest_in_lane[static_cast<std::size_t>(file->identity.lane)];
    // A rotated file may still be written to; one that was not seen since a restart may have been
    // copied or compressed in the meantime.
    const bool found =
        !file->presence.missing || file->progress.doubt == TrackedFile::Progress::Doubt::none;
    const Nanos patience = file->progress.read.ends_whole() ? limits.linger : limits.gone;
    const bool over = file->presence.quiet.held_for(patience, now) && file->at_end();
    const bool rests = (file->identity.order.age == 0 && found) || over;
    const bool passed = newest != nullptr && reads_before(*file, *newest);
    // Attributes may be stale, but the writer is done: reading shows where the file ends.
    const bool may_lag = file->presence.remote || !file->presence.was_open;
    if (passed && !file->presence.passed && may_lag && !file->phase.finished())
      file->progress.touched = true;
    if (passed && !file->presence.passed && file->hold.failures() > 0) {
      file->hold.hurry(limits.longest_retry_of_lane, now);  // from now on its lane waits for it
    }
    file->presence.passed = passed;
    const bool may_go_on =
        file->presence.missing && (discovered.may_be_unclear(*file) || goes_on_compressed(*file));
    const bool over_now = (passed && rests) || !file->presence.linked;
    file->phase.set_end_due((over_now && !may_go_on) ||
                            file->presence.gone.held_for(limits.gone, now));
  }
}

void Tailer::Impl::drop_done(TailSink& sink) {
  std::vector<TrackedFile*> unlinked;
  for (const auto& file : table.all()) {
    reader.settle(*file, sink);
    const bool out_of_place = file->presence.missing || file->identity.order.age != 0;
    file->presence.quiet.set(out_of_place && file->at_end(), clock.now());
    if (!file->presence.missing || !file->presence.quiet.held_for(limits.linger, clock.now()))
      continue;
    table.close(*file);
    if (!file->presence.linked && is_done(*file)) unlinked.push_back(file.get());
  }
  for (TrackedFile* const file : unlinked) {
    const FileId id = file->identity.id;
    const bool announced = file->phase.opened();
    table.remove(*file);
    if (announced) sink.forgotten(id, false);
  }
}

Tailer::Tailer(FileSystem& files, std::vector<WatchRoot> roots, TailLimits limits,
               const TailCheckpoint& resume)
    : impl_(std::make_unique<Impl>(files, std::move(roots), limits, resume)) {}

Tailer::~Tailer() = default;

void Tailer::scan(TailSink& sink, ScanTime now) {
  Impl& p = *impl_;
  ++p.scan_number;
  p.clock.advance(now);
  list_roots(p.files, p.roots, p.limits.max_depth, p.listing);
  p.checkpoints.scan(p.files, p.listing.checkpoints, sink);
  p.checkpoints_due = false;
  // Sizes come after the listing: by then, a file older than a listed one of its lane is complete.
  for (const std::string& path : p.listing.files) p.meet(path);
  const ScanContext context{p.scan_number, p.listing, sink};
  for (const auto& file : p.table.all()) {
    file->hold.scanned(p.clock.now());
    if (file->presence.seen_in_scan != p.scan_number) {
      p.look_for_missing(*file, context);
    } else if (!file->presence.seen_as.empty()) {
      p.rename(*file, sink);
    }
  }
  p.discovered.take_in(context);
  p.note_beginnings(context);
  p.table.order_by_names(p.scan_number);
  p.table.place_lost();
  p.find_endings();
  p.drop_done(sink);
  p.queue.fill(p.table, p.discovered.holds());
}

bool Tailer::refresh() {
  Impl& p = *impl_;
  bool any_begins = false;
  for (const auto& file : p.table.all()) {
    // A rotated file may still be written to, and is read before the one that took its name.
    if (file->hold.active() || (file->phase.end_is_due() && file->identity.order.age == 0))
      continue;
    const auto stat = file->presence.handle ? file->presence.handle->stat()
                                            : p.files.stat(file->identity.order.path);
    if (!stat || stat->identity != file->identity.inode) continue;
    if (!p.see(*file, *stat)) continue;
    if (file->identity.order.age != 0 && file->presence.linked && !file->presence.missing)
      file->phase.set_end_due(false);
    if (!begins(*file)) continue;
    file->hold.until_next_scan();  // what was written before may have another name by now
    any_begins = true;
  }
  p.queue.fill(p.table, p.discovered.holds());
  p.checkpoints_due = true;
  return !any_begins;
}

bool Tailer::read(TailSink& sink) {
  Impl& p = *impl_;
  if (std::exchange(p.checkpoints_due, false)) p.checkpoints.look_again(p.files, sink);
  while (TrackedFile* const file = p.queue.front()) {
    if (file->unread()) {
      if (!p.reader.read_chunk(*file, sink)) {
        p.discovered.replaced(*file, sink);
        p.queue.fill(p.table, p.discovered.holds());
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
  result.reserve(impl_->table.all().size());
  for (const auto& file : impl_->table.all()) {
    result.push_back({file->identity.id, file->identity.lane, file->identity.order.path,
                      file->progress.size, file->offset(), file->progress.error});
  }
  return result;
}

std::uint64_t Tailer::unread_bytes() const {
  std::uint64_t unread = 0;
  for (const auto& file : impl_->table.all()) {
    if (file->progress.size > file->offset()) unread += file->progress.size - file->offset();
  }
  return unread;
}

std::uint64_t Tailer::files_dropped() const {
  return impl_->discovered.dropped();
}

const std::vector<std::string>& Tailer::missing_roots() const {
  return impl_->listing.missing;
}

const SkippedPaths& Tailer::skipped() const {
  return impl_->listing.skipped;
}

const std::vector<std::string>& Tailer::directories() const {
  return impl_->listing.directories;
}

}  // namespace trainwatch

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/tailer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "pipeline/tail/discovered_files.h"
#include "pipeline/tail/file_reader.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/lane_ends.h"
#include "pipeline/tail/log_search.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {
struct Tailer::Impl {
  Impl(FileSystem& file_system, std::vector<WatchRoot> watch_roots, TailLimits tail_limits,
       const TailCheckpoint& resume, ContentProbe content_probe)
      : files(file_system),
        probe(std::move(content_probe)),
        roots(std::move(watch_roots)),
        limits(tail_limits),
        clock(limits.longest_gap),
        table(files, limits, clock),
        logs(files, roots, limits, clock, probe),
        reader(table, roots, limits, clock, probe),
        discovered(files, table, reader, limits, clock),
        ends(table, discovered, limits, clock),
        queue(limits, clock) {
    assert(limits.chunk_bytes > 0);
    table.restore(resume, roots);
  }

  void look(TailSink& sink);
  void meet(const std::string& path);
  bool rests(const TrackedFile& file) const;
  bool retired_and_rests(const std::string& path);
  // The file system of a silent file does not answer. A missing root may be mounted again.
  bool is_silent(const std::string& path) const {
    return lies_in_one_of(listing.silent, path, roots);
  }
  bool may_exist(const std::string& path) const {
    return is_silent(path) || lies_in_one_of(listing.missing, path, roots);
  }
  bool look_again(TrackedFile& file);
  void rename(TrackedFile& file, TailSink& sink);
  void look_for_missing(TrackedFile& file, const ScanContext& scan);
  void note_beginnings(const ScanContext& scan);
  void drop_done(TailSink& sink);
  bool has_vanished(const TrackedFile& file) const;
  void drop_vanished(TailSink& sink);
  bool see(TrackedFile& file, const FileStat& stat) const {
    return observe(file, stat, limits.shrunk, clock.now());
  }

  FileSystem& files;
  ContentProbe probe;
  std::vector<WatchRoot> roots;
  TailLimits limits;
  PatienceClock clock;
  FileTable table;
  LogSearch logs;
  FileReader reader;
  DiscoveredFiles discovered;
  LaneEnds ends;
  Listing listing;
  ReadQueue queue;
  CheckpointFiles checkpoints;
  bool checkpoints_due = false;  // they may have been written to since they were looked at
  std::uint64_t scan_number = 0;
};

void Tailer::Impl::look(TailSink& sink) {
  logs.list(table, listing);
  checkpoints.scan(files, listing.checkpoints, sink);
  checkpoints_due = false;
  // Sizes come after the listing: by then, a file older than a listed one of its lane is complete.
  for (const std::string& path : listing.files) meet(path);
  listing.files = std::vector<std::string>();
}

// Where there are many files, those that have been quiet for a while are looked at less often.
bool Tailer::Impl::rests(const TrackedFile& file) const {
  return table.all().size() > limits.few_files && clock.now() < file.presence.next_look &&
         file.at_end() && !file.presence.missing && !file.hold.active();
}

// Most files of an endless lane are retired: whether one of them is a known file by now is asked in
// one of eight scans.
bool Tailer::Impl::retired_and_rests(const std::string& path) {
  if (table.all().size() <= limits.few_files || table.at_path(path) != nullptr) return false;
  if (std::hash<std::string>()(path) % 8 == scan_number % 8) return false;
  const FilePlace place = place_of(path);
  return !place.single && table.was_forgotten(place);
}

// Handles one listed name: a known file, under its known or a new name, or a new file.
void Tailer::Impl::meet(const std::string& path) {
  if (TrackedFile* const resting = table.at_path(path); resting != nullptr && rests(*resting)) {
    resting->presence.seen_in_scan = scan_number;
    return;
  }
  if (retired_and_rests(path)) return;
  const auto stat = files.stat(path);
  if (!stat) return;
  TrackedFile* file = table.find(stat->identity);
  if (file == nullptr) file = table.revive(stat->identity, path);
  if (file == nullptr) {
    FilePlace place = place_of(path);
    if (!table.was_forgotten(place)) {
      discovered.met(std::move(place), *stat);
    } else if (table.lanes().outgrew(place, stat->size)) {
      discovered.left_out();
    }
    return;
  }
  const bool own_name = path == file->identity.order.path;
  if (file->presence.seen_in_scan == scan_number) {  // a hard link, or renamed during the listing
    const bool other_came_first = own_name && !file->presence.seen_as.empty();
    listing.skipped.add(other_came_first ? file->presence.seen_as : path, SkipReason::same_file);
    if (own_name) file->presence.seen_as.clear();
    return;
  }
  file->presence.seen_in_scan = scan_number;
  if (file->presence.missing) table.note_names();
  file->presence.found();
  file->presence.seen_as = own_name ? std::string() : path;
  see(*file, *stat);
  if (clock.now() - file->presence.changed >= limits.rest_after) {
    lighten(*file);
    // Not all in the same scan.
    const auto share = static_cast<std::int64_t>(file->identity.id) % 8;
    file->presence.next_look = clock.now() + limits.rest / 2 + share * limits.rest / 16;
  }
}

void Tailer::Impl::rename(TrackedFile& file, TailSink& sink) {
  table.rename(file, place_of(file.presence.seen_as).order);
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
  const Nanos patience = ends.goes_on(file.identity.lane) ? limits.linger : limits.gone;
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
    const bool listed = file->presence.seen_in_scan == scan.number ||
                        scan.lists_directory_of(file->identity.order.path);
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

void Tailer::Impl::drop_done(TailSink& sink) {
  std::vector<TrackedFile*> dropped;
  for (const auto& file : table.all()) {
    reader.settle(*file, sink);
    const bool out_of_place = file->presence.missing || file->identity.order.age != 0;
    file->presence.quiet.set(out_of_place && file->at_end(), clock.now());
    if (!file->presence.missing || !file->presence.quiet.held_for(limits.linger, clock.now()))
      continue;
    table.close(*file);
    if (is_done(*file) && has_vanished(*file)) dropped.push_back(file.get());
  }
  for (const TrackedFile* const file : dropped) {
    if (file->phase.opened()) sink.forgotten(file->identity.id, false);
  }
  table.remove(dropped);
}

bool Tailer::Impl::has_vanished(const TrackedFile& file) const {
  if (!file.presence.linked) return true;
  return file.presence.gone.held_for(limits.vanished, clock.now()) && !may_exist(file.path());
}

void Tailer::Impl::drop_vanished(TailSink& sink) {
  const auto vanished =
      table.forget_vanished([this](const std::string& path) { return may_exist(path); });
  for (const FileId file : vanished.files) sink.forgotten(file, false);
  for (const LaneId lane : vanished.lanes) sink.lane_forgotten(lane);
}

Tailer::Tailer(FileSystem& files, std::vector<WatchRoot> roots, TailLimits limits,
               const TailCheckpoint& resume, ContentProbe probe)
    : impl_(std::make_unique<Impl>(files, std::move(roots), limits, resume, std::move(probe))) {}

Tailer::~Tailer() = default;

void Tailer::scan(TailSink& sink, ScanTime now) {
  Impl& p = *impl_;
  ++p.scan_number;
  p.clock.advance(now);
  p.logs.begin_scan();
  p.look(sink);
  if (p.discovered.look_again()) {
    for (const auto& file : p.table.all()) file->presence.unseen();
    p.look(sink);
  }
  const ScanContext context{p.scan_number, p.listing, sink};
  for (const auto& file : p.table.all()) {
    file->hold.scanned(p.clock.now());
    if (p.is_silent(file->path())) {
      file->presence.seen_in_scan = p.scan_number;  // as it was
      file->hold.until_next_scan();
    } else if (file->presence.seen_in_scan != p.scan_number) {
      p.look_for_missing(*file, context);
    } else if (!file->presence.seen_as.empty()) {
      p.rename(*file, sink);
    }
  }
  p.discovered.take_in(context);
  p.note_beginnings(context);
  p.table.order_by_names(p.scan_number);
  p.table.place_lost();
  p.ends.find();
  p.drop_done(sink);
  p.drop_vanished(sink);
  p.queue.fill(p.table, p.discovered.holds());
}

// True if it got its first bytes, and can only be read after a scan.
bool Tailer::Impl::look_again(TrackedFile& file) {
  // A rotated file may still be written to, and is read before the one that took its name.
  if (file.hold.active() || (file.phase.end_is_due() && file.identity.order.age == 0)) return false;
  const auto stat =
      file.presence.handle ? file.presence.handle->stat() : files.stat(file.identity.order.path);
  if (!stat || stat->identity != file.identity.inode || !see(file, *stat)) return false;
  if (file.identity.order.age != 0 && file.presence.linked && !file.presence.missing)
    file.phase.set_end_due(false);
  if (!begins(file)) return false;
  file.hold.until_next_scan();  // what was written before may have another name by now
  return true;
}

bool Tailer::settled() const {
  const Impl& p = *impl_;
  const bool searching = p.logs.unfinished() || p.logs.waits();
  return !searching && p.discovered.holds().empty() && p.table.settled();
}

void Tailer::look_at(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (TrackedFile* const file = impl_->table.at_path(path)) file->presence.next_look = Nanos{0};
    impl_->logs.look_at(path);
  }
}

void Tailer::look_at_all() {
  for (const auto& file : impl_->table.all()) file->presence.next_look = Nanos{0};
}

bool Tailer::refresh() {
  Impl& p = *impl_;
  bool any_begins = false;
  for (const auto& file : p.table.all()) {
    if (!p.rests(*file) && p.look_again(*file)) any_begins = true;
  }
  p.queue.fill(p.table, p.discovered.holds());
  p.checkpoints_due = true;
  return !any_begins;
}

bool Tailer::refresh(const std::vector<std::string>& paths) {
  Impl& p = *impl_;
  if (paths.empty()) return true;
  bool any_begins = false;
  std::vector<TrackedFile*> changed;
  for (const std::string& path : paths) {
    TrackedFile* const file = p.table.at_path(path);
    if (file == nullptr) {
      p.logs.look_at(path);
      any_begins = any_begins || p.logs.awaits(path);
      continue;
    }
    if (p.look_again(*file)) any_begins = true;
    changed.push_back(file);
  }
  p.queue.add(changed, p.table, p.discovered.holds());
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

void Tailer::end_turn() {
  impl_->queue.end_turn();
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
  return impl_->table.unread_bytes();
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

bool Tailer::has_unlooked() const {
  return impl_->logs.unfinished();
}

std::uint64_t Tailer::looks() const {
  return impl_->logs.heads().looks();
}

std::uint64_t Tailer::bytes_looked_at() const {
  return impl_->logs.heads().bytes_looked_at();
}

const std::vector<std::string>& Tailer::directories() const {
  return impl_->listing.directories;
}

}  // namespace trainwatch

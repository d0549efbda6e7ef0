// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/file_reader.h"

#include <algorithm>

#include "pipeline/tail/fingerprint_search.h"

namespace trainwatch {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";

// Compressed bytes may be a thousand times as many once they are decoded, and other files wait for
// that: not more of them are read at once.
constexpr std::size_t kGzipChunk = std::size_t{16} << 10U;

bool has_more(const TrackedFile& file) {
  return !file.at_end();
}

// On a network file system it appears shorter than what was read of it: the next scans decide.
bool may_have_restarted(const TrackedFile& file) {
  return file.presence.shrunk;
}

}  // namespace

bool reads_before(const TrackedFile& a, const TrackedFile& b) {
  if (const auto order = a.identity.order <=> b.identity.order; order != 0) return order < 0;
  return a.identity.id < b.identity.id;
}

void ReadQueue::fill(const FileTable& table, const std::vector<FilePlace>& holds) {
  std::vector<TrackedFile*> files;
  for (const auto& file : table.all()) {
    if (has_more(*file) || may_have_restarted(*file)) files.push_back(file.get());
  }
  order(std::move(files), table, holds);
}

void ReadQueue::add(const std::vector<TrackedFile*>& files, const FileTable& table,
                    const std::vector<FilePlace>& holds) {
  std::vector<TrackedFile*> all = std::move(files_);
  all.insert(all.end(), files.begin(), files.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(
      all, [](const TrackedFile* file) { return !has_more(*file) && !may_have_restarted(*file); });
  order(std::move(all), table, holds);
}

void ReadQueue::order(std::vector<TrackedFile*> files, const FileTable& table,
                      const std::vector<FilePlace>& holds) {
  next_ = 0;
  held_.clear();
  files_ = std::move(files);
  std::erase_if(files_, [&](const TrackedFile* file) {
    return std::any_of(holds.begin(), holds.end(), [&](const FilePlace& before) {
      return before.lane == table.lanes().name(file->identity.lane) &&
             before.order < file->identity.order;
    });
  });
  std::sort(files_.begin(), files_.end(), [this](const auto* a, const auto* b) {
    const int turns = turns_behind(*a) - turns_behind(*b);
    return turns != 0 ? turns < 0 : reads_before(*a, *b);
  });
}

// 0: it is not behind. Who had its turn first is the first to have another one.
int ReadQueue::turns_behind(const TrackedFile& file) const {
  const auto lane = behind_.find(file.identity.lane);
  return lane == behind_.end() ? 0 : lane->second;
}

void ReadQueue::end_turn() {
  for (auto& [lane, turns] : behind_) --turns;
  std::erase_if(behind_, [](const auto& lane) { return lane.second == 0; });
  const TrackedFile* const file = front();
  if (file == nullptr) return;
  behind_[file->identity.lane] = kTurnsBehind;
  std::stable_partition(
      files_.begin() + static_cast<std::ptrdiff_t>(next_), files_.end(),
      [file](const TrackedFile* other) { return other->identity.lane != file->identity.lane; });
}

TrackedFile* ReadQueue::front() {
  while (next_ < files_.size()) {
    TrackedFile* const file = files_[next_];
    const bool waits = has_more(*file) ? file->hold.active() : may_have_restarted(*file);
    const bool too_long = file->hold.failing_for(limits_.hold, clock_.now());
    if (waits && !too_long) held_.insert(file->identity.lane);
    if (!waits && !held_.contains(file->identity.lane)) return file;
    ++next_;
  }
  return nullptr;
}

void ReadQueue::pop() {
  ++next_;
}

FileReader::FileReader(FileTable& table, const std::vector<WatchRoot>& roots,
                       const TailLimits& limits, const PatienceClock& clock,
                       const ContentProbe& probe)
    : table_(table),
      roots_(roots),
      limits_(limits),
      clock_(clock),
      probe_(probe),
      buffer_(limits.chunk_bytes + Fingerprint::kTail),
      compare_(std::size_t{64} << 10U) {}

bool FileReader::read_chunk(TrackedFile& file, TailSink& sink) {
  if (!make_ready(file, sink)) return true;
  if (file.hold.failures() > 0 && begins(file)) {
    if (const auto noted = note_head(*file.presence.handle, file); !noted) {
      fail(file, noted.error(), sink);
      return true;
    }
    if (!file.progress.head.empty()) {
      file.hold.until_next_scan();  // the scan sees what was written before
      return true;
    }
  }
  const auto proven = dispel_doubt(file);
  if (proven && !*proven) return false;
  const auto step = proven ? read_on(file, buffer_for(file)) : Result<ReadStep>(proven.error());
  if (!step) {
    fail(file, step.error(), sink);
    return true;
  }
  file.progress.error.clear();
  file.hold.succeeded();
  if (step->replaced) return false;
  if (step->cut > 0) sink.cut_back(file.identity.id, step->cut);
  if (step->bytes.empty()) return true;
  const bool first = file.offset() == step->bytes.size();
  if (first) file.progress.gzip = step->bytes.starts_with(kGzip);
  file.progress.foreign = first && shows_nothing(file, step->bytes);
  announce(file, sink);
  sink.data(file.identity.id, {step->bytes, time_from_ns(file.progress.modified_ns),
                               file.progress.read, file.progress.size <= file.offset()});
  return true;
}

// Asked only where room may become scarce.
bool FileReader::shows_nothing(const TrackedFile& file, std::string_view bytes) const {
  if (!probe_ || table_.all().size() <= limits_.max_files / 2) return false;
  const auto look = probe_(file.path());
  look->feed(bytes);
  return look->content().answer != HeadContent::Answer::yes;
}

// Who copies a finished job may create the newest file of a lane first: the others are still being
// written when they are seen for the first time, and have a newer one.
bool FileReader::may_grow(const TrackedFile& file) const {
  const bool since_start = file.presence.changed > Nanos{0};
  return since_start && !file.presence.was_newest && !file.presence.missing &&
         !file.progress.read.ends_whole() && clock_.now() - file.presence.changed < limits_.linger;
}

void FileReader::settle(TrackedFile& file, TailSink& sink) {
  if (!file.phase.end_is_due() || !file.at_end()) return;
  if (file.phase.now() == Phase::ending) {
    if (may_grow(file)) return;
    file.phase.on(PhaseEvent::finished);
    sink.finished(file.identity.id);
  }
  lighten(file);
  if (!file.presence.missing && file.presence.linked) table_.close(file);
}

std::span<char> FileReader::buffer_for(const TrackedFile& file) {
  const bool gzip = file.progress.gzip || is_compressed(file.identity.order);
  const std::size_t most = gzip ? std::min(limits_.chunk_bytes, kGzipChunk) : limits_.chunk_bytes;
  return std::span(buffer_).first(most + Fingerprint::kTail);
}

KnownFile FileReader::known(const TrackedFile& file) const {
  const TrackedFile::Identity& identity = file.identity;
  const WatchRoot* const root = root_of(file.path(), roots_);
  return {identity.id, identity.lane,  root == nullptr ? std::string() : root->source,
          file.path(), identity.inode, identity.generation};
}

bool FileReader::make_ready(TrackedFile& file, TailSink& sink) {
  const auto open = table_.open(file);
  if (!open) {
    fail(file, open.error(), sink);
  } else if (!*open) {
    file.hold.until_next_scan();  // its path leads elsewhere: the scan finds out where it went
  }
  return !file.hold.active();
}

Result<bool> FileReader::dispel_doubt(TrackedFile& file) {
  using Doubt = TrackedFile::Progress::Doubt;
  if (file.offset() < file.progress.head.size()) {
    return begins_with(*file.presence.handle, file.progress.head, compare_);
  }
  file.progress.head.clear();
  if (file.progress.doubt == Doubt::none || file.offset() == 0) return true;
  const auto compare = file.progress.doubt == Doubt::all ? &holds : &begins_alike;
  auto same = compare(*file.presence.handle, file.progress.read, compare_);
  if (same && *same) file.progress.doubt = Doubt::none;
  return same;
}

void FileReader::announce(TrackedFile& file, TailSink& sink) {
  if (file.phase.opened()) return;
  file.phase.on(PhaseEvent::opened);
  std::vector<FileId> repeated;
  if (is_compressed(file.identity.order)) {
    for (const TrackedFile* const other : table_.same_base(file.identity.order.base)) {
      // Compressed anew, perhaps with more, and put in its place.
      const bool replaced = other != &file && other->path() == file.path();
      const bool plain = !is_compressed(other->identity.order);
      if (replaced || (plain && !other->progress.read.proves_nothing()))
        repeated.push_back(other->identity.id);
    }
  }
  sink.opened(known(file), table_.lanes().name(file.identity.lane), repeated);
}

void FileReader::fail(TrackedFile& file, const Error& error, TailSink& sink) {
  const Nanos now = clock_.now();
  const bool lane_waits = file.presence.passed && !file.hold.failing_for(limits_.hold, now);
  const Nanos longest = lane_waits ? limits_.longest_retry_of_lane : limits_.longest_retry;
  const Nanos doubled = limits_.first_retry * (1U << std::min(file.hold.failures(), 16U));
  file.hold.failed(std::min({longest, limits_.longest_retry, doubled}), now);
  // A stale handle never recovers; reopening by name, while there is one, does.
  if (!file.presence.missing && file.presence.linked) table_.close(file);
  if (file.progress.error == error.message) return;
  file.progress.error = error.message;
  announce(file, sink);
  sink.read_error(file.identity.id, file.progress.error);
}

}  // namespace trainwatch

#include "pipeline/tail/file_reader.h"

#include <algorithm>

#include "pipeline/tail/content_search.h"
#include "pipeline/tail/first_sight.h"

namespace trainwatch {
FileReader::FileReader(FileTable& table, const std::vector<WatchRoot>& roots,
                       const TailLimits& limits)
    : table_(table),
      roots_(roots),
      limits_(limits),
      buffer_(limits.chunk_bytes + ContentMark::kTail),
      compare_(std::size_t{64} << 10U) {}

bool FileReader::read_chunk(TrackedFile& file, TailSink& sink) {
  if (!make_ready(file, sink)) return true;
  if (file.failures > 0 && begins(file)) {
    if (const auto noted = note_first_sight(*file.handle, file); !noted) {
      fail(file, noted.error(), sink);
      return true;
    }
    file.blocked = !file.first_sight.empty();  // the next scan sees what was written before
    if (file.blocked) return true;
  }
  const auto proven = dispel_doubt(file);
  if (proven && !*proven) return false;
  const auto step = proven ? read_on(file, buffer_) : Result<ReadStep>(proven.error());
  if (!step) {
    fail(file, step.error(), sink);
    return true;
  }
  file.error.clear();
  file.failures = 0;
  if (step->displaced) return false;
  if (step->cut > 0) sink.cut_back(file.id, step->cut);
  if (step->bytes.empty()) return true;
  announce(file, sink);
  sink.data(file.id, step->bytes);
  return true;
}

void FileReader::settle(TrackedFile& file, TailSink& sink) {
  if (!file.ending || !file.at_end()) return;
  if (file.announced && !file.finished) {
    file.finished = true;
    sink.finished(file.id);
  }
  if (!file.missing && file.linked) table_.close(file);
}

KnownFile FileReader::known(const TrackedFile& file) const {
  return {file.id,         file.lane,     roots_[file.root].source,
          file.order.path, file.identity, file.generation};
}

bool FileReader::make_ready(TrackedFile& file, TailSink& sink) {
  const auto open = table_.open(file);
  if (!open) {
    fail(file, open.error(), sink);
  } else if (!*open) {
    file.blocked = true;  // its path leads elsewhere: the next scan finds out where it went
  }
  return !file.blocked;
}

Result<bool> FileReader::dispel_doubt(TrackedFile& file) {
  using Doubt = TrackedFile::Doubt;
  if (file.offset() < file.first_sight.size()) {
    return begins_with(*file.handle, file.first_sight, compare_);
  }
  file.first_sight.clear();
  if (file.doubt == Doubt::none || file.offset() == 0) return true;
  const auto compare = file.doubt == Doubt::all ? &holds : &begins_alike;
  const auto same = compare(*file.handle, file.read, compare_);
  if (same && *same) file.doubt = Doubt::none;
  return same;
}

void FileReader::announce(TrackedFile& file, TailSink& sink) {
  if (file.announced) return;
  file.announced = true;
  std::vector<FileId> plain;
  for (const auto& other : table_.all()) {
    const bool repeated = is_compressed(file.order) && other->order.base == file.order.base &&
                          !is_compressed(other->order) && !other->read.tells_nothing();
    if (repeated) plain.push_back(other->id);
  }
  sink.opened(known(file), table_.lane_name(file.lane), plain);
}

void FileReader::fail(TrackedFile& file, const Error& error, TailSink& sink) {
  file.blocked = true;
  const bool lane_waits = file.passed && file.failing_polls <= kLongestHold;
  const unsigned longest = lane_waits ? kRetryWhileLaneWaits : limits_.retry_polls;
  file.wait_polls = std::min({longest, limits_.retry_polls, 1U << std::min(file.failures, 16U)});
  ++file.failures;
  // A stale handle never recovers; the name, while there is one, leads to a fresh one.
  if (!file.missing && file.linked) table_.close(file);
  if (file.error == error.message) return;
  file.error = error.message;
  announce(file, sink);
  sink.read_error(file.id, file.error);
}

}  // namespace trainwatch

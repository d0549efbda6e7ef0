// SPDX-License-Identifier: Apache-2.0
// What Ingest knows of the times in its files: which parts of which files have the events of a
// time.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/engine/ingest.h"

namespace trainwatch {

// As written: what the filter rejects is in the file all the same.
void Ingest::note_times(FileId id, File& file) {
  const FileDecoder& decoder = *file.decoder;
  const std::uint64_t definitions = std::exchange(file.definitions, decoder.definitions());
  TimeIndex::Piece piece;
  piece.whole = !decoder.has_parts();
  piece.end = piece.whole ? 0 : file.decoder_begins + decoder.bytes().total();
  piece.defines = decoder.definitions() != definitions;
  piece.open_span = decoder.has_open_span();
  times_.add(id, piece, batch_);
}

// Of jobs that are over nobody asks what ran when.
void Ingest::forget_times() {
  std::set<std::string> alive;
  for (const auto& [id, file] : files_) {
    if (!engine_.last_seen().is_silent(file.seen_in)) alive.insert(window_of(file).job);
  }
  times_.forget_retired([&alive](const FileWindow& known) { return !alive.contains(known.job); });
}

FileWindow Ingest::window_of(const File& file) const {
  const WatchRoot* const root = root_of(file.known.path, options_.roots);
  FileWindow window;
  window.path = file.known.path;
  window.identity = file.known.identity;
  window.job = job_of_file(file);
  if (root != nullptr) window.rank = root->rank;
  window.format = file.format;
  return window;
}

std::vector<FileWindow> Ingest::windows(std::int64_t from_ns, std::int64_t to_ns) const {
  std::vector<FileWindow> windows;
  for (const auto& [id, file] : files_) {
    if (!times_.touches(id, from_ns, to_ns)) continue;
    FileWindow& window = windows.emplace_back(window_of(file));
    times_.find(id, from_ns, to_ns, window);
  }
  times_.find_retired(from_ns, to_ns, windows);
  return windows;
}

}  // namespace trainwatch
